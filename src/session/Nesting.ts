/**
 * A shell that calls a command of ours waits for it: what that command asks of the same shell would wait for ever.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
import { ExecutionFailed } from "../domain/CommandError.js"

/**
 * Whose commands the call is one of, that this fiber runs for a shell.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const current: FiberRef.FiberRef<unknown> = GlobalValue.globalValue("synapse/Nesting", () =>
  FiberRef.unsafeMake<unknown>(undefined)
)

/**
 * Runs a call that a shell with these commands has made.
 *
 * @since 0.1.0
 * @category combinators
 */
export const within =
  (commands: unknown) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(call, current, commands)

const busy = () =>
  new ExecutionFailed({
    kind: "shell",
    reason: "a command that the shell has called can't run another in that shell, which waits for it"
  })

/**
 * Runs what needs a shell with these commands; fails with ExecutionFailed where that shell waits for this fiber.
 *
 * @since 0.1.0
 * @category combinators
 */
export const refuse = <A, E, R>(
  commands: unknown,
  execution: Effect.Effect<A, E, R>
): Effect.Effect<A, E | ExecutionFailed, R> =>
  Effect.withFiberRuntime(
    (fiber): Effect.Effect<A, E | ExecutionFailed, R> => (fiber.getFiberRef(current) === commands ? busy() : execution)
  )
