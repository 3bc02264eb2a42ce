/**
 * Ctrl-C while something runs: it ends what runs, and not the shell.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Keyboard } from "../../terminal/Keyboard.js"

/**
 * Hears Ctrl-C, by the key or, while the terminal is in nobody's hands, by the signal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interruption {
  /** Runs an effect; at the first Ctrl-C meanwhile, it calls `end`. Returns whether that happened. */
  readonly during: <A>(effect: Effect.Effect<A>, end: Effect.Effect<unknown>) => Effect.Effect<readonly [A, boolean]>
  /** Has SIGINT do what the key does, as long as the effect runs: outside of raw mode, Ctrl-C is that signal. */
  readonly bySignal: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * Makes it over a keyboard.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (keyboard: Context.Tag.Service<Keyboard>): Interruption => {
  let heard = (): void => {}
  return {
    during: (effect, end) =>
      Effect.scoped(
        Effect.gen(function* () {
          const pressed = yield* Deferred.make<void>()
          const press = () => Deferred.unsafeDone(pressed, Exit.void)
          heard = press
          yield* keyboard.onInterrupt(press)
          yield* Effect.forkScoped(Effect.zipRight(Deferred.await(pressed), end))
          const value = yield* effect
          heard = () => {}
          return [value, yield* Deferred.isDone(pressed)] as const
        })
      ),
    bySignal: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const others = process.listeners("SIGINT")
          const own = () => heard()
          process.removeAllListeners("SIGINT").on("SIGINT", own)
          return () => {
            process.off("SIGINT", own)
            for (const each of others) process.on("SIGINT", each as () => void)
          }
        }),
        () => effect,
        (back) => Effect.sync(back)
      )
  }
}
