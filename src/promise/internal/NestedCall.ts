/**
 * Carries through promises which call of a command is being run: Effect's own way to carry it ends where a program's
 * functions begin.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as CallContext from "../../domain/CallContext.js"

const caller = GlobalValue.globalValue("synapse/NestedCall", () => new AsyncLocalStorage<unknown>())

/** Returns a function that runs code, and all that it awaits, as a part of the call that this fiber runs. */
export const carrier: Effect.Effect<<A>(run: () => A) => A> = Effect.map(
  CallContext.get("within"),
  (current) => (run) => caller.run(current, run)
)

/**
 * Runs an effect as a part of the call whose code starts it: what needs the shell that waits for that call is refused then,
 * where it would wait for ever.
 */
export const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const current = caller.getStore()
  return current === undefined ? effect : CallContext.locally(effect, { within: current })
}
