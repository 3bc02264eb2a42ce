/**
 * Answers the calls that `synapse call` is given.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Timeout from "../domain/Timeout.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import type { Toolset } from "../toolset/Toolset.js"
import * as Asking from "./Asking.js"
import * as CallLine from "./CallLine.js"
import * as CallServer from "./CallServer.js"
import { House } from "./Invocation.js"
import { Lines } from "./Lines.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import * as WithoutSandbox from "./WithoutSandbox.js"

/**
 * The options that were given, and whether the results leave out what their `output` holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Given extends SessionOptions.Given {
  readonly brief: boolean
}

/** Answers every line until the input ends, then waits for the calls that run. */
const serve = (brief: boolean): Effect.Effect<void, never, Scope.Scope | Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const server = yield* CallServer.make((result) =>
      Effect.suspend(() => {
        const waiting = stdio.write("stdout", `${JSON.stringify(brief ? ToolReturn.brief(result) : result)}\n`)
        return waiting === undefined ? Effect.void : Effect.promise(() => waiting)
      })
    )
    const lines = new Lines(CallLine.longest)
    for (let chunk = yield* stdio.read; chunk !== undefined; chunk = yield* stdio.read) {
      yield* Effect.forEach(lines.push(chunk), server.take, { discard: true })
      yield* server.ready
    }
    yield* Effect.forEach(lines.end(), server.take, { discard: true })
    yield* server.finished
  })

/**
 * Answers calls in a house of its own.
 *
 * @since 0.1.0
 */
export const call = (given: Given): Effect.Effect<void, ConfigError, House | Stdio> =>
  Effect.gen(function* () {
    yield* WithoutSandbox.tell(given)
    const house = yield* House
    // The program that calls shows what is going on: a question is asked only if it is told to.
    const permission = Asking.isTold(given.ask) ? PermissionPrompt.layer : undefined
    yield* Effect.provide(
      // What Synapse answers itself has no other limit.
      Effect.locally(Effect.scoped(serve(given.brief)), Timeout.ofCalls, Option.getOrUndefined(given.timeout)),
      house.layer(...SessionOptions.toSettings(given, SessionOptions.goesOn), permission)
    )
  })
