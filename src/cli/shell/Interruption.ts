/** Ctrl-C while something runs: it ends what runs, and not the shell. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Keyboard } from "../../terminal/Keyboard.js"

/** The way in which Ctrl-C came: the terminal itself shows `^C` for the signal, and nothing for the key. */
export type Interrupted = "key" | "signal"

/** Hears Ctrl-C, by the key or, while the terminal is in nobody's hands, by the signal. */
export interface Interruption {
  /**
   * Runs an effect; at the first Ctrl-C meanwhile, it runs `end`. Returns how Ctrl-C came; undefined where it did not.
   */
  readonly during: <A>(
    effect: Effect.Effect<A>,
    end: Effect.Effect<unknown>
  ) => Effect.Effect<readonly [A, Interrupted | undefined]>
  /** Does what the key does, for whoever takes the keys. */
  readonly press: () => void
  /**
   * Runs an effect, of whatever goes on in the background too, while something runs in the foreground: it is interrupted
   * when `during` ends, which waits for its end. Returns `otherwise` then, and where nothing runs.
   */
  readonly whileRunning: <A>(effect: Effect.Effect<A>, otherwise: A) => Effect.Effect<A>
  /** Has SIGINT do what the key does, as long as the effect runs: outside of raw mode, Ctrl-C is that signal. */
  readonly bySignal: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const make = (keyboard: Context.Tag.Service<Keyboard>): Interruption => {
  let heard = (_by: Interrupted): void => {}
  /** The effect of the foreground, which ends with it; undefined where nothing runs there. */
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
