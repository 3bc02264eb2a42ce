/** Handles Ctrl-C while something runs: it ends that, and not the shell. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Keyboard } from "../../terminal/Keyboard.js"

/** How Ctrl-C arrived. The terminal shows `^C` for the signal, but nothing for the key. */
export type Interrupted = "key" | "signal"

/** Listens for Ctrl-C, as a key or, outside of raw mode, as a signal. */
export interface Interruption {
  /** Runs an effect, and runs `end` at the first Ctrl-C. Returns how Ctrl-C arrived, if it did. */
  readonly during: <A>(
    effect: Effect.Effect<A>,
    end: Effect.Effect<unknown>
  ) => Effect.Effect<readonly [A, Interrupted | undefined]>
  /** Acts like the key, for code that reads the keys itself. */
  readonly press: () => void
  /**
   * Runs an effect, possibly of a background task, while something runs in the foreground. Returns `otherwise` if
   * nothing does. When `during` ends, it interrupts the effect, waits for its end, and `otherwise` is returned.
   */
  readonly whileRunning: <A>(effect: Effect.Effect<A>, otherwise: A) => Effect.Effect<A>
  /** Makes SIGINT act like the key while the effect runs. Outside of raw mode, Ctrl-C sends that signal. */
  readonly bySignal: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (keyboard: Context.Tag.Service<Keyboard>): Interruption => {
  let heard = (_by: Interrupted): void => {}
  /** What runs in the foreground, if anything. Ends with it. */
  let foreground: { readonly ended: Deferred.Deferred<void> } | undefined
  const turn = Effect.unsafeMakeSemaphore(1)
  const running = Effect.acquireRelease(
    Effect.map(Deferred.make<void>(), (ended) => {
      foreground = { ended }
      return foreground
    }),
    ({ ended }) =>
      Effect.suspend(() => {
        foreground = undefined
        return Effect.zipRight(Deferred.succeed(ended, undefined), turn.withPermits(1)(Effect.void))
      })
  )
  return {
    press: () => heard("key"),
    during: (effect, end) =>
      Effect.scoped(
        Effect.gen(function* () {
          const pressed = yield* Deferred.make<Interrupted>()
          yield* running
          heard = (by) => Deferred.unsafeDone(pressed, Exit.succeed(by))
          yield* keyboard.onInterrupt(() => heard("key"))
          yield* Effect.forkScoped(Effect.zipRight(Deferred.await(pressed), end))
          const value = yield* effect
          heard = () => {}
          const by = yield* Deferred.poll(pressed)
          return [value, Option.isSome(by) ? yield* by.value : undefined] as const
        })
      ),
    whileRunning: (effect, otherwise) =>
      turn.withPermits(1)(
        Effect.suspend(() =>
          foreground === undefined
            ? Effect.succeed(otherwise)
            : Effect.raceFirst(effect, Effect.as(Deferred.await(foreground.ended), otherwise))
        )
      ),
    bySignal: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const others = process.listeners("SIGINT")
          const own = () => heard("signal")
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
