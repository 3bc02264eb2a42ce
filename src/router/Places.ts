/**
 * Keeps calls in the order they came in where some of them run without the shell, whose queue keeps all others in order.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Nesting from "../session/Nesting.js"

/**
 * The places of the calls that run without the shell.
 *
 * @since 0.1.0
 * @category models
 */
export interface Places {
  /** Runs a call when those that keep a place before it have ended. */
  readonly behind: <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs a call in the same way, and keeps the later ones waiting until it has ended, but for those that it makes itself. */
  readonly keep: <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Gives up all places: nobody waits for the calls that keep one now. */
  readonly open: () => void
}

/**
 * Makes places, of which none is taken.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): Places => {
  let last: Deferred.Deferred<void> | undefined

  /** What a call runs itself, or the shell for it, does not wait for that call to end. */
  const unlessNested = <A, E>(call: Effect.Effect<A, E>, queued: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withFiberRuntime((fiber) => (fiber.getFiberRef(Nesting.current) === undefined ? queued : call))

  const behind = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    unlessNested(
      call,
      Effect.suspend(() => (last === undefined ? call : Effect.zipRight(Deferred.await(last), call)))
    )

  return {
    behind,
    keep: (call) =>
      unlessNested(
        call,
        Effect.suspend(() => {
          const before = last
          const own = Deferred.unsafeMake<void>(FiberId.none)
          last = own
          const leave = Effect.sync(() => {
            if (last === own) last = undefined
            Deferred.unsafeDone(own, Effect.void)
          })
          const held = Nesting.within(own)(call)
          if (before === undefined) return Effect.ensuring(held, leave)
          let isFirst = false
          const first = Effect.tap(Deferred.await(before), () => {
            isFirst = true
          })
          return Effect.ensuring(
            Effect.zipRight(first, held),
            // Later calls wait for this one alone: where it is cancelled while it waits, for those before it.
            Effect.suspend(() => (isFirst ? leave : Effect.forkDaemon(Effect.zipRight(Deferred.await(before), leave))))
          )
        })
      ),
    open: () => {
      last = undefined
    }
  }
}
