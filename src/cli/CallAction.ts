/**
 * Answers the calls that `synapse call` is given.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { Toolset } from "../toolset/Toolset.js"
import * as CallLine from "./CallLine.js"
import { House } from "./Invocation.js"
import { Lines } from "./Lines.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

/** So many calls are taken at a time; further lines are read when one of them has ended. */
const inFlight = 1000

/** Answers every line until the input ends, then waits for the calls that run. */
const serve: Effect.Effect<void, never, Stdio | Toolset | Scope.Scope> = Effect.gen(function* () {
  const stdio = yield* Stdio
  const toolset = yield* Toolset
  const fibers = yield* FiberSet.make<void>()
  // Starts a call at once, so that its cancellation, on the next line, finds it.
  const fork = yield* FiberSet.runtime(fibers)<never>()
  const places = yield* Effect.makeSemaphore(inFlight)

  const answer = (result: object) => Effect.promise(async () => stdio.write("stdout", `${JSON.stringify(result)}\n`))

  const take = (line: string): Effect.Effect<void> => {
    // JavaScript's own idea of white space has the byte order mark in it.
    if (line.trim() === "") return Effect.void
    return Either.match(CallLine.parse(line.trim()), {
      onLeft: answer,
      onRight: CallLine.CallLine.$match({
        Call: ({ call }) =>
          Effect.zipRight(
            places.take(1),
            Effect.sync(() => {
              fork(Effect.ensuring(Effect.flatMap(toolset.handle(call), answer), places.release(1)))
            })
          ),
        Cancel: ({ id }) =>
          Effect.sync(() => {
            const cancel = Effect.flatMap(toolset.cancel(id), (found) =>
              found ? Effect.void : answer(CallLine.reject(id, `No call with the id ${id} is running.`))
            )
            fork(cancel)
          })
      })
    })
  }

  const lines = new Lines()
  for (let chunk = yield* stdio.read; chunk !== undefined; chunk = yield* stdio.read) {
    yield* Effect.forEach(lines.push(chunk), take, { discard: true })
  }
  yield* Effect.forEach(lines.end(), take, { discard: true })
  yield* FiberSet.awaitEmpty(fibers)
})

/**
 * Answers calls in a house of its own.
 *
 * @since 0.1.0
 */
export const call = (given: SessionOptions.Given): Effect.Effect<void, ConfigError, House | Stdio> =>
  Effect.flatMap(House, (house) =>
    Effect.provide(Effect.scoped(serve), house.layer(...SessionOptions.toSettings(given, SessionOptions.answered)))
  )
