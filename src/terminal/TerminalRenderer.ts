/**
 * Shows a run on a terminal, or as static lines elsewhere.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Denial } from "../domain/Diagnostic.js"
import * as Setting from "../domain/Setting.js"
import * as SubAgentEvent from "../domain/SubAgentEvent.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as Columns from "./Columns.js"
import { LiveArea, spinner } from "./internal/LiveArea.js"
import type { Call, Change, Task } from "./internal/Running.js"
import { Running } from "./internal/Running.js"
import * as StepLines from "./internal/StepLines.js"
import * as Style from "./internal/Style.js"
import { RunEvent } from "./RunEvent.js"
import { Terminal } from "./Terminal.js"

/** How many characters are kept of an unfinished line. */
const mostOpenLine = 4000

/** Escapes control characters in untrusted text, except tabs. */
const harmless = (line: string): string =>
  line
    .split("\t")
    .map((part) => UntrustedText.escape(part))
    .join("\t")

/** Text that arrives in parts, split into lines. */
class OpenLine {
  private text = ""
  private readonly markdown: Style.Markdown | undefined

  constructor(isStyled: boolean) {
    this.markdown = isStyled ? new Style.Markdown() : undefined
  }

  /** Adds a part and returns the lines that it completes. */
  push(part: string): ReadonlyArray<string> {
    this.text += part
    if (!part.includes("\n")) return []
    const lines = this.text.split("\n")
    this.text = lines.pop() ?? ""
    return lines.map((line) => this.show(line))
  }

  /** Ends the unfinished line and returns it. */
  end(): ReadonlyArray<string> {
    const { text } = this
    this.text = ""
    const last = text === "" ? [] : [this.show(text)]
    this.markdown?.end()
    return last
  }

  private show(line: string): string {
    const shown = harmless(line.replace(/\r$/, ""))
    return this.markdown?.line(shown) ?? shown
  }

  /** The end of the unfinished line. A lone first surrogate waits for its other half. */
  get open(): string {
    const end = this.text.slice(-mostOpenLine).replace(/[\ud800-\udbff\r]$/, "")
    return UntrustedText.escape(end.replaceAll("\t", "  "))
  }
}

/** How long each spinner sign is shown, in ms. */
const turn = 125

/** The most rows of an unfinished line. */
const mostRows = 6

/** The columns of a failure's reason, which the terminal wraps. */
const longestReason = 300

const toolLines = (task: Task, count: number, last = "└"): ReadonlyArray<string> => {
  const shown = count === 0 ? [] : task.recent.slice(-count)
  const earlier = task.count - shown.length
  const tools = shown.map(
    ({ failed, text }, at) => `  ${at === shown.length - 1 ? last : "├"}─${failed ? "✗" : "•"} ${text}`
  )
  return earlier === 0 || shown.length === 0
    ? tools
    : [`  ... (${earlier} earlier tool${earlier === 1 ? "" : "s"})`, ...tools]
}

const failed = (ending: string): string =>
  ending === "failed" || ending === "done" ? "FAILED" : `FAILED (${StepLines.short(ending, 40)})`

/**
 * Turns events into static lines, and into live lines that show what is running. Without a live terminal, starting
 * calls and the calls of tasks are static lines too.
 */
class View {
  private readonly running: Running
  private readonly text: OpenLine
  /** The call of the last static line. Its output needs no name. */
  private last: Call | undefined

  constructor(
    private readonly isLive: boolean,
    private readonly maxRecentTools: number
  ) {
    this.running = new Running(maxRecentTools)
    this.text = new OpenLine(isLive)
  }

  /** Takes an event and returns the lines to write. */
  take(event: RunEvent, now: number, columns: number): ReadonlyArray<string> {
    const before = this.last
    const lines = this.linesOf(event, now, this.isLive ? columns : Number.POSITIVE_INFINITY)
    if (lines.length > 0 && this.last === before) this.last = undefined
    return lines
  }

  /** Excludes a duration from the running times. */
  pause(milliseconds: number): void {
    this.running.pause(milliseconds)
  }

  /** True if the live lines change with time alone. */
  isMoving(): boolean {
    return this.isLive && (this.running.calls.size > 0 || this.running.tasks.size > 0)
  }

  /** Returns up to `rows` lines about what is running, at most `columns` wide. */
  live(now: number, columns: number, rows: number): ReadonlyArray<string> {
    const { open } = this.text
    const rest = open === "" ? [] : Columns.wrapColumns(open, columns).slice(-Math.max(1, Math.min(mostRows, rows)))
    const room = rows - rest.length
    let count = this.maxRecentTools
    let shown = this.liveLines(now, columns, count)
    while (shown.length > room && count > 0) shown = this.liveLines(now, columns, --count)
    if (shown.length <= room) return [...rest, ...shown]
    const kept = Math.max(0, room - 1)
    const more = Columns.cut(`... (${shown.length - kept} more)`, columns)
    return [...rest, ...shown.slice(0, kept), more].slice(0, rows)
  }

  private linesOf(event: RunEvent, now: number, columns: number): ReadonlyArray<string> {
    const { running, text } = this
    switch (event._tag) {
      case "ToolStarted":
        return [...text.end(), ...this.changeLines(running.start(event.call, now), now, columns)]
      case "ToolEnded":
        return [...text.end(), ...this.changeLines(running.end(event, now), now, columns)]
      case "SubAgent":
        return this.changeLines(running.step(event.event, now), now, columns)
      case "Text":
        return text.push(event.delta)
      case "TurnEnded":
        return text.end()
      case "Retrying":
        return [...text.end(), Columns.cut(`• ${SubAgentEvent.describeRetrying(event)}`, columns)]
      case "Interrupted": {
        const lineOf = ({ name, started }: Call) => {
          const end = ` ${failed("interrupted")}${StepLines.tally(0, now - started, true)}`
          return this.step(StepLines.callLine("✗", name, end, columns), end)
        }
        return [...text.end(), ...running.interrupt().map(lineOf)]
      }
      case "Notice":
        return [...text.end(), ...event.text.split("\n").map(harmless)]
    }
  }

  private changeLines(change: Change | undefined, now: number, columns: number): ReadonlyArray<string> {
    const { isLive } = this
    switch (change?._tag) {
      case undefined:
        return []
      case "CallStarted":
        // A task prints its own line.
        if (isLive || change.call.taskType !== undefined) return []
        this.last = change.call
        return [`• ${change.call.name}`]
      case "CallEnded": {
        const { call, result } = change
        const end = StepLines.callEnd(result, now - call.started)
        const isNamed = this.last === call && end === ""
        const line = StepLines.callLine(result.isError ? "✗" : "•", call.name, end, columns)
        return [
          ...(isNamed ? [] : [this.step(line, end)]),
          ...this.result(result.output, columns, result.extras.denied)
        ]
      }
      case "TaskStarted":
        return isLive ? [] : [`◐ Task(${change.task.name})`]
      case "TaskRetrying": {
        const line = `${isLive ? "" : "  ├─"}• Task(${change.task.name}): ${SubAgentEvent.describeRetrying(change)}`
        return [Columns.cut(line, columns)]
      }
      case "ToolStarted":
        return isLive ? [] : [`  ├─• Task(${change.task.name}): ${change.tool.text}`]
      case "ToolFailed": {
        const reason = StepLines.short(change.reason)
        const line = `  ├─✗ Task(${change.task.name}): ${change.tool.text}${reason === "" ? "" : `: ${reason}`}`
        return isLive ? [] : [line]
      }
      case "TaskEnded":
        return this.taskEnd(change, now, columns)
    }
  }

  private step(line: string, end?: string): string {
    return this.isLive ? Style.step(line, end) : line
  }

  private result(text: string, columns: number, denied?: Denial): ReadonlyArray<string> {
    const lines = StepLines.result(text, columns)
    if (!this.isLive) return lines
    return Style.result(
      lines,
      denied === undefined ? -1 : text.split("\n").findLastIndex((line) => line.includes(denied.what))
    )
  }

  private taskEnd(
    { ending, task, text }: Extract<Change, { readonly _tag: "TaskEnded" }>,
    now: number,
    columns: number
  ): ReadonlyArray<string> {
    const tally = StepLines.tally(task.count, now - task.started, false)
    const isDone = ending === "done"
    const after = isDone ? tally : ` ${failed(ending)}${tally}`
    const reason = isDone ? [] : this.result(text, Math.max(longestReason, columns))
    const tools = this.isLive ? toolLines(task, this.maxRecentTools, reason.length === 0 ? "└" : "├") : []
    return [
      this.step(StepLines.taskLine(isDone ? "✓" : "✗", task.name, after, columns), after),
      ...tools.map((line) => this.step(Columns.cut(line, columns))),
      ...reason
    ]
  }

  private liveLines(now: number, columns: number, count: number): ReadonlyArray<string> {
    const { calls, tasks } = this.running
    const sign = spinner[Math.floor(now / turn) % spinner.length] ?? spinner[0]
    return [
      ...[...calls.values()]
        .filter(({ isTold }) => !isTold)
        .map(({ name, started }) => StepLines.callLine(sign, name, StepLines.tally(0, now - started, true), columns)),
      ...[...tasks.values()].flatMap((task) => [
        StepLines.taskLine(sign, task.name, StepLines.tally(task.count, now - task.started, true), columns),
        ...toolLines(task, count).map((line) => Columns.cut(line, columns))
      ])
    ]
  }
}

/**
 * Shows the events of a run.
 *
 * @since 0.1.0
 * @category tags
 */
export class TerminalRenderer extends Context.Tag("synapse/TerminalRenderer")<
  TerminalRenderer,
  {
    /** Takes an event without waiting for the terminal, unless millions of characters are pending. */
    readonly take: (event: RunEvent) => Effect.Effect<void>
    /** Writes trusted lines above the live area, without escaping control characters. */
    readonly print: (text: string) => Effect.Effect<void>
    /**
     * Runs an effect that uses the terminal itself. The live area disappears until the effect has ended. Concurrent
     * effects run one after another; a nested effect runs at once.
     */
    readonly suspended: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Like `suspended`, for asking a person. The running times exclude this time. */
    readonly asking: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Draws all events so far and waits for the terminal. */
    readonly flush: Effect.Effect<void>
  }
>() {}

/**
 * Colours the lines of a diff.
 *
 * @param text without control characters, besides line ends
 * @since 0.1.0
 * @category combinators
 */
export const diff = (text: string): string => text.split("\n").map(Style.change).join("\n")

/**
 * The settings of a renderer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** How many recent tool calls of a task are shown (`SYNAPSE_MAX_RECENT_TOOLS`). */
  readonly maxRecentTools: number
}

/**
 * The default settings.
 *
 * @since 0.1.0
 */
export const defaults: Settings = { maxRecentTools: 5 }

/** The shortest time between two frames, and the time between two that only differ in time, in ms. */
const frame = { shortest: 34, idle: 125 }

/** How many characters may be pending before `take` waits. */
const mostWaiting = 4_000_000

/** Marks the fibers of a `suspended` effect. */
interface Hold {
  isOver: boolean
  readonly turn: Effect.Semaphore
}

const make = ({
  maxRecentTools
}: Settings): Effect.Effect<Context.Tag.Service<TerminalRenderer>, never, Scope.Scope | Terminal> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal
    const { isLive } = terminal
    const view = new View(isLive, isLive ? maxRecentTools : 1)
    const area = new LiveArea(terminal.reflow)
    const clock = yield* Effect.clock
    const turn = yield* Effect.makeSemaphore(1)
    const held = FiberRef.unsafeMake<Hold | undefined>(undefined)
    const changed = yield* Effect.makeLatch()
    const room = yield* Effect.makeLatch(true)
    let waiting: Array<string> = []
    let size = 0

    const add = (lines: ReadonlyArray<string>): void => {
      for (const line of lines) {
        waiting.push(line)
        size += line.length
      }
      if (size > mostWaiting) room.unsafeClose()
    }

    /** Writes pending and live lines. The caller must hold the mutex. */
    const draw = (withLive: boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        const lines = waiting
        waiting = []
        size = 0
        const { columns, rows } = terminal.size()
        const live =
          withLive && isLive
            ? view.live(clock.unsafeCurrentTimeMillis(), Math.max(1, columns - 1), Math.max(1, rows - 2))
            : []
        const text = isLive ? area.draw(lines, live, columns) : lines.map((line) => `${line}\n`).join("")
        if (text === "") return room.open
        return Effect.zipRight(
          Effect.promise(async () => terminal.write(text)),
          room.open
        )
      }).pipe(Effect.uninterruptible, Effect.asVoid)

    const loop = Effect.gen(function* () {
      while (true) {
        yield* view.isMoving() ? Effect.raceFirst(changed.await, Clock.sleep(frame.idle)) : changed.await
        yield* changed.close
        yield* turn.withPermits(1)(draw(true))
        yield* Clock.sleep(frame.shortest)
      }
    })

    /** Writes pending lines, under the caller's mutex if it holds it. */
    const flush = Effect.flatMap(FiberRef.get(held), (hold) =>
      hold === undefined || hold.isOver ? turn.withPermits(1)(draw(true)) : draw(false)
    )

    /** Runs an effect under the mutex. Nested effects share it. */
    const holding = <A, E, R>(turn: Effect.Semaphore, before: Effect.Effect<void>, effect: Effect.Effect<A, E, R>) =>
      turn.withPermits(1)(
        Effect.acquireUseRelease(
          Effect.as(before, { isOver: false, turn: Effect.unsafeMakeSemaphore(1) } as Hold),
          (hold) => Effect.locally(effect, held, hold),
          (hold) =>
            Effect.sync(() => {
              hold.isOver = true
              changed.unsafeOpen()
            })
        )
      )

    const suspended = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(FiberRef.get(held), (outer) =>
        outer === undefined || outer.isOver
          ? holding(turn, draw(false), effect)
          : holding(outer.turn, Effect.void, effect)
      )

    const onResize = terminal.onResize(() => changed.unsafeOpen())
    const onStop = isLive
      ? terminal.onStop?.(
          () => area.draw([], [], terminal.size().columns),
          () => changed.unsafeOpen()
        )
      : undefined
    yield* Effect.addFinalizer(() => {
      onResize()
      onStop?.()
      add(view.take(RunEvent.TurnEnded(), clock.unsafeCurrentTimeMillis(), terminal.size().columns))
      return turn.withPermits(1)(draw(false))
    })
    yield* Effect.forkScoped(loop)

    return TerminalRenderer.of({
      take: (event) =>
        Effect.suspend(() => {
          const columns = Math.max(1, terminal.size().columns - 1)
          add(view.take(event, clock.unsafeCurrentTimeMillis(), columns))
          changed.unsafeOpen()
          return room.await
        }),
      print: (text) =>
        Effect.suspend(() => {
          add((text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r?\n/))
          changed.unsafeOpen()
          return room.await
        }),
      suspended,
      asking: (effect) =>
        suspended(
          Effect.suspend(() => {
            const began = clock.unsafeCurrentTimeMillis()
            return Effect.ensuring(
              effect,
              Effect.sync(() => view.pause(clock.unsafeCurrentTimeMillis() - began))
            )
          })
        ),
      flush
    })
  })

/**
 * A layer with the given settings and the defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (settings: Partial<Settings> = {}): Layer.Layer<TerminalRenderer, never, Terminal> =>
  Layer.scoped(
    TerminalRenderer,
    Effect.suspend(() => make({ ...defaults, ...settings }))
  )

/**
 * A layer with the default settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<TerminalRenderer, never, Terminal> = layerWith()

/**
 * A layer with the settings of the environment (`SYNAPSE_MAX_RECENT_TOOLS`). Fails if the variable is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv: Layer.Layer<TerminalRenderer, ConfigError, Terminal> = Layer.unwrapEffect(
  Effect.map(
    Setting.wholeNumber("SYNAPSE_MAX_RECENT_TOOLS", 1).pipe(Config.withDefault(defaults.maxRecentTools)),
    (maxRecentTools) => layerWith({ maxRecentTools })
  )
)
