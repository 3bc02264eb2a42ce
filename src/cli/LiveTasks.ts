/** Shows the sub-agents of a command on the terminal, while the command's own output goes on as it comes. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { CommandListener } from "../domain/CommandListener.js"
import type { SubAgentEvent } from "../domain/SubAgentEvent.js"
import { RunEvent } from "../terminal/RunEvent.js"
import * as Rendering from "./Rendering.js"
import { Stdio } from "./Stdio.js"

/** A listener for the command, and the terminal that it shares with its sub-agents. */
export interface LiveTasks {
  readonly listener: Required<Pick<CommandListener, "onOutput" | "onSubAgent">>
  /** Keeps the terminal free for an effect. */
  readonly hold: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Shows all that was heard, and waits until it is seen. */
  readonly end: Effect.Effect<void>
}

type Heard =
  | { readonly _tag: "Step"; readonly event: SubAgentEvent }
  | {
      readonly _tag: "Output"
      readonly stream: "stdout" | "stderr"
      readonly chunk: Uint8Array
      readonly taken: () => void
    }
  | { readonly _tag: "End"; readonly taken: () => void }

const newline = 0x0a

/** Makes a listener. Until the first sub-agent, the output is written at once, and nothing else is done or loaded. */
export const make: Effect.Effect<LiveTasks, never, Scope.Scope | Stdio> = Effect.gen(function* () {
  const { isTerminal, write } = yield* Stdio
  const heard = yield* Queue.unbounded<Heard>()
  const running = new Set<string>()
  const made = yield* Deferred.make<Rendering.Renderer>()
  let hasBegun = false
  /** True where the last line on the terminal has no end yet. */
  let isOpen = false
  /** The beginning of a line of output that comes while sub-agents run, until its end comes. */
  let rest: ReadonlyArray<Uint8Array> = []

  const writeNow = (stream: "stdout" | "stderr", chunk: Uint8Array): void | Promise<void> => {
    if (chunk.length > 0 && isTerminal(stream)) isOpen = chunk.at(-1) !== newline
    return write(stream, chunk)
  }
  const writeAll = (stream: "stdout" | "stderr", chunk: Uint8Array) =>
    Effect.promise(async () => writeNow(stream, chunk))

  const writeRest = (stream: "stdout" | "stderr"): Effect.Effect<void> => {
    const bytes = Buffer.concat(rest)
    rest = []
    return bytes.length === 0 ? Effect.void : writeAll(stream, bytes)
  }

  /** Writes output beside the live lines: whole lines above them, all of it where there are none. */
  const output = (shown: Rendering.Renderer, stream: "stdout" | "stderr", chunk: Uint8Array): Effect.Effect<void> => {
    if (!isTerminal(stream)) return writeAll(stream, chunk)
    const end = running.size === 0 ? chunk.length : chunk.lastIndexOf(newline) + 1
    const whole = Buffer.concat([...rest, chunk.subarray(0, end)])
    if (end === 0) {
      rest = [...rest, chunk]
      return Effect.void
    }
    rest = end === chunk.length ? [] : [chunk.subarray(end)]
    return shown.suspended(writeAll(stream, whole))
  }

  const take = (shown: Rendering.Renderer, one: Heard): Effect.Effect<void> => {
    switch (one._tag) {
      case "Step": {
        const { id, step } = one.event
        if (step._tag === "Started") running.add(id)
        if (step._tag === "Ended") running.delete(id)
        return shown.take(RunEvent.SubAgent({ event: one.event }))
      }
      case "Output":
        return Effect.zipRight(output(shown, one.stream, one.chunk), Effect.sync(one.taken))
      case "End":
        return shown.flush.pipe(Effect.zipRight(writeRest("stdout")), Effect.zipRight(Effect.sync(one.taken)))
    }
  }

  /** Renders from the first event on; what was heard until the end is taken even where it is interrupted. */
  const render: Effect.Effect<void> = Effect.scoped(
    Effect.gen(function* () {
      const first = yield* Queue.take(heard)
      const shown = yield* Rendering.make
      yield* Deferred.succeed(made, shown)
      const all = Effect.flatMap(Queue.takeAll(heard), (left) =>
        Effect.forEach(left, (one) => take(shown, one), { discard: true })
      )
      return yield* Effect.zipRight(
        take(shown, first),
        Effect.forever(Effect.flatMap(Queue.take(heard), (one) => Effect.uninterruptible(take(shown, one))))
      ).pipe(Effect.ensuring(all))
    })
  )
  yield* Effect.forkScoped(render)

  return {
    listener: {
      onOutput: (stream, chunk) => {
        if (!hasBegun) return writeNow(stream, chunk)
        return new Promise((taken) => {
          Queue.unsafeOffer(heard, { _tag: "Output", stream, chunk: Uint8Array.from(chunk), taken })
        })
      },
      onSubAgent: (event) => {
        if (!hasBegun && isOpen) write("stderr", "\n")
        hasBegun = true
        Queue.unsafeOffer(heard, { _tag: "Step", event })
      }
    },
    hold: (effect) =>
      Effect.suspend(() =>
        hasBegun ? Effect.flatMap(Deferred.await(made), (shown) => shown.suspended(effect)) : effect
      ),
    end: Effect.suspend(() =>
      hasBegun
        ? Effect.async<void>((resume) => {
            Queue.unsafeOffer(heard, { _tag: "End", taken: () => resume(Effect.void) })
          })
        : Effect.void
    )
  }
})
