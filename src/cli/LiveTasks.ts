/** Shows the sub-agents of a command on the terminal, together with the command's own output. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { CommandListener } from "../domain/CommandListener.js"
import * as Rendering from "./Rendering.js"
import { Stdio } from "./Stdio.js"
import { ShownTasks } from "./shell/ShownTasks.js"

/** A listener for the command, and the terminal that it shares with its sub-agents. */
export interface LiveTasks {
  readonly listener: Required<Pick<CommandListener, "onOutput" | "onSubAgent">>
  /** Keeps the terminal free while an effect runs. */
  readonly hold: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Shows everything that was heard, and waits until it is visible. */
  readonly end: Effect.Effect<void>
}

const newline = 0x0a

/** Makes a listener. Until the first sub-agent starts, it only writes output and loads nothing. */
export const make: Effect.Effect<LiveTasks, never, Scope.Scope | Stdio> = Effect.gen(function* () {
  const { isTerminal, write } = yield* Stdio
  const runPromise = Runtime.runPromise(yield* Effect.runtime<Scope.Scope>())
  /** Undefined until the first sub-agent. */
  let begun: Promise<ShownTasks> | undefined
  /** Settles when everything that was heard is shown. */
  let shown: Promise<void> = Promise.resolve()
  let isLineOpen = false
  /** The incomplete line of output while sub-agents run. */
  let incomplete: ReadonlyArray<Uint8Array> = []

  const begin = Effect.gen(function* () {
    const renderer = yield* Rendering.make
    // Also shows the last events after an interruption.
    yield* Effect.addFinalizer(() => Effect.promise(() => shown))
    return new ShownTasks(renderer)
  })

  const show = (use: (tasks: ShownTasks) => Effect.Effect<void>): Promise<void> => {
    begun ??= runPromise(begin)
    const tasks = begun
    shown = shown.then(async () => runPromise(use(await tasks)))
    return shown
  }

  const writeNow = (stream: "stdout" | "stderr", chunk: Uint8Array): void | Promise<void> => {
    if (chunk.length > 0 && isTerminal(stream)) isLineOpen = chunk.at(-1) !== newline
    return write(stream, chunk)
  }
  const writeAll = (stream: "stdout" | "stderr", chunk: Uint8Array) =>
    Effect.promise(async () => writeNow(stream, chunk))

  /** Writes output beside the live lines: complete lines above them, or everything if there are none. */
  const output = (tasks: ShownTasks, stream: "stdout" | "stderr", chunk: Uint8Array): Effect.Effect<void> => {
    if (!isTerminal(stream)) return writeAll(stream, chunk)
    const end = tasks.isAny ? chunk.lastIndexOf(newline) + 1 : chunk.length
    const whole = Buffer.concat([...incomplete, chunk.subarray(0, end)])
    if (end === 0) {
      incomplete = [...incomplete, chunk]
      return Effect.void
    }
    incomplete = end === chunk.length ? [] : [chunk.subarray(end)]
    return tasks.renderer.suspended(writeAll(stream, whole))
  }

  const writeRest = Effect.suspend(() => {
    const bytes = Buffer.concat(incomplete)
    incomplete = []
    return bytes.length === 0 ? Effect.void : writeAll("stdout", bytes)
  })

  return {
    listener: {
      onOutput: (stream, chunk) => {
        if (begun === undefined) return writeNow(stream, chunk)
        const kept = Uint8Array.from(chunk)
        return show((tasks) => output(tasks, stream, kept))
      },
      onSubAgent: (event) => {
        if (begun === undefined && isLineOpen) write("stderr", "\n")
        void show((tasks) => tasks.take(event))
      }
    },
    hold: (effect) =>
      Effect.suspend(() => {
        const tasks = begun
        return tasks === undefined
          ? effect
          : Effect.flatMap(
              Effect.promise(() => tasks),
              ({ renderer }) => renderer.suspended(effect)
            )
      }),
    end: Effect.suspend(() =>
      begun === undefined
        ? Effect.void
        : Effect.promise(() => show(({ renderer }) => Effect.zipRight(renderer.flush, writeRest)))
    )
  }
})
