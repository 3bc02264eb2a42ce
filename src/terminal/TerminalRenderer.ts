/**
 * Shows a run on a terminal, or as static lines where there is none.
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
import * as WholeNumber from "../domain/WholeNumber.js"
import { LiveArea } from "./LiveArea.js"
import { RunEvent } from "./RunEvent.js"
import * as RunView from "./RunView.js"
import * as StaticView from "./StaticView.js"
import { Terminal } from "./Terminal.js"

/**
 * Shows the events of a run.
 *
 * @since 0.1.0
 * @category tags
 */
export class TerminalRenderer extends Context.Tag("synapse/TerminalRenderer")<
  TerminalRenderer,
  {
    /** Takes an event. It returns at once, however slow the terminal is; only where millions of characters wait, it does too. */
    readonly take: (event: RunEvent) => Effect.Effect<void>
    /** Writes lines above what is live. They are the program's own: nothing in them is made harmless. */
    readonly print: (text: string) => Effect.Effect<void>
    /**
     * Leaves the terminal to an effect: what is live is removed before, nothing is drawn meanwhile, and it is drawn again
     * afterwards. Effects that ask for it at the same time have it one after another; one within another has it at once.
     */
    readonly suspended: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Draws what has been taken so far, and waits until the terminal has taken it. */
    readonly flush: Effect.Effect<void>
  }
>() {}

/**
 * The settings of a renderer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The number of a task's newest tool calls that are shown (`SYNAPSE_MAX_RECENT_TOOLS`). */
  readonly maxRecentTools: number
}

/**
 * The default settings.
 *
 * @since 0.1.0
 */
export const defaults: Settings = { maxRecentTools: 5 }

/** The fewest milliseconds from one frame to the next, and of one that shows only that time passes. */
const frame = { shortest: 34, idle: 125 }

/** The most characters that wait for the terminal before events do. */
const mostWaiting = 4_000_000

/** The fibers within a `suspended` effect, for as long as it lasts. */
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
    const view = isLive ? RunView.make(maxRecentTools) : StaticView.make()
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

    /** Writes the lines that wait, and the live ones; whoever calls it has the turn. */
    const draw = (withLive: boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        const lines = waiting
        waiting = []
        size = 0
        const { columns, rows } = terminal.size()
        const live = withLive
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

    /** Writes what waits: in the turn of the caller where it holds one. */
    const flush = Effect.flatMap(FiberRef.get(held), (hold) =>
      hold === undefined || hold.isOver ? turn.withPermits(1)(draw(true)) : draw(false)
    )

    /** Runs an effect in a turn, which the effects within it share. */
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
      // A text without an end stays too.
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
 * A layer which reads the settings from the environment (`SYNAPSE_MAX_RECENT_TOOLS`). Fails where the variable has an
 * invalid value.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv: Layer.Layer<TerminalRenderer, ConfigError, Terminal> = Layer.unwrapEffect(
  Effect.map(
    WholeNumber.config("SYNAPSE_MAX_RECENT_TOOLS", 1).pipe(Config.withDefault(defaults.maxRecentTools)),
    (maxRecentTools) => layerWith({ maxRecentTools })
  )
)
