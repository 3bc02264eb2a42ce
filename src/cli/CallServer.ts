/**
 * Takes the lines of `synapse call`, runs the calls among them, and answers each.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as CommandResult from "../domain/CommandResult.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import { stillRunning, Toolset } from "../toolset/Toolset.js"
import * as CallLine from "./CallLine.js"
import { CallPlaces } from "./CallPlaces.js"
import type { Line } from "./Lines.js"

/**
 * Answers lines.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallServer {
  /** Takes a line: starts its call or lets it wait, or cancels one. Waits where the answer to it has to. */
  readonly take: (line: Line) => Effect.Effect<void>
  /** Waits while too much text waits for its turn. */
  readonly ready: Effect.Effect<void>
  /** Waits until every call has been answered. */
  readonly finished: Effect.Effect<void>
}

/** Makes the answer to a call that was cancelled before it had a place. */
const cancelled = (call: ToolCall): ToolReturn.ToolReturn =>
  ToolReturn.fromExit(call, Exit.interrupt(FiberId.none), { partial: CommandResult.make({ began: false }) })

/**
 * Makes a server which writes its answers with `answer`; its calls end with the scope.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  answer: (result: ToolReturn.ToolReturn | CallLine.Rejection) => Effect.Effect<void>
): Effect.Effect<CallServer, never, Scope.Scope | Toolset> =>
  Effect.gen(function* () {
    const toolset = yield* Toolset
    const tools = new Set(toolset.tools.map(({ name }) => name))
    const fibers = yield* FiberSet.make<void>()
    // Starts a call at once, so that its cancellation, on the next line, finds it.
    const fork = yield* FiberSet.runtime(fibers)<never>()
    const places = new CallPlaces((call, ended) =>
      fork(Effect.ensuring(Effect.flatMap(toolset.handle(call), answer), Effect.sync(ended)))
    )

    const start = (call: ToolCall): Effect.Effect<void> => {
      // It needs no place, and is answered at once.
      if (!tools.has(call.name)) return Effect.flatMap(toolset.handle(call), answer)
      if (places.isRunning(call.id) || places.isWaiting(call.id)) return answer(stillRunning(call))
      return Effect.sync(() => places.add(call))
    }

    const cancel = (id: string): Effect.Effect<void> => {
      const waiting = places.cancel(id)
      if (waiting !== undefined) return answer(cancelled(waiting))
      // Where it has just ended, its own answer is on its way.
      if (places.isRunning(id)) return Effect.sync(() => void fork(Effect.asVoid(toolset.cancel(id))))
      return answer(places.wasAnswered(id) ? CallLine.tooLate(id) : CallLine.unknown(id))
    }

    return {
      take: (line) =>
        Either.match(CallLine.read(line), {
          onLeft: answer,
          onRight: CallLine.CallLine.$match({
            Blank: () => Effect.void,
            Call: ({ call }) => start(call),
            Cancel: ({ id }) => cancel(id)
          })
        }),
      ready: Effect.async((resume) => {
        places.onRoom = () => resume(Effect.void)
        if (places.hasRoom) resume(Effect.void)
      }),
      finished: Effect.zipRight(
        Effect.async<void>((resume) => {
          places.onIdle = () => resume(Effect.void)
          if (places.isIdle) resume(Effect.void)
        }),
        FiberSet.awaitEmpty(fibers)
      )
    }
  })
