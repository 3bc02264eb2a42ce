/**
 * Carries the current command call through promises, since Effect's context ends where a program's own functions begin.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as CallContext from "../../domain/CallContext.js"

const caller = GlobalValue.globalValue("synapse/NestedCall", () => new AsyncLocalStorage<unknown>())

/** Returns a function that runs code, and all that it awaits, as part of this fiber's call. */
export const carrier: Effect.Effect<<A>(run: () => A) => A> = Effect.map(
  CallContext.get("within"),
  (current) => (run) => caller.run(current, run)
)

/**
 * Runs an effect as part of the call whose code starts it. It is then refused the shell that waits for that call,
 * instead of waiting forever.
 */
export const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const current = caller.getStore()
  return current === undefined ? effect : CallContext.locally(effect, { within: current })
}
