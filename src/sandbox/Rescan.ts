/**
 * Repeats a scan in the background after commands, for at most a twentieth of the time.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/**
 * Milliseconds from the end of one scan to the start of the next, at least; after a long scan, `share` times its
 * duration.
 */
const shortest = 1000
const share = 20

/**
 * Returns a function to call after each command. It takes no time itself: it lets a scan begin in the background as soon
 * as the last one is long enough ago. A scan that fails or dies is told to `onFailure`, and the next one follows.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E>(
  scan: Effect.Effect<void, E>,
  onFailure: (cause: Cause.Cause<E>) => Effect.Effect<void> = (cause) => Effect.logDebug("a scan has failed", cause)
): Effect.Effect<() => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ended = yield* Queue.sliding<void>(1)
    const loop = (pause: number): Effect.Effect<never> =>
      Effect.sleep(pause).pipe(
        Effect.zipRight(Queue.take(ended)),
        Effect.zipRight(Effect.timed(Effect.catchAllCause(scan, onFailure))),
        Effect.flatMap(([duration]) => loop(Math.max(shortest, share * Duration.toMillis(duration))))
      )
    // The start of the sandbox has just scanned.
    yield* Effect.forkScoped(Effect.interruptible(loop(shortest)))
    return () => void ended.unsafeOffer(undefined)
  })
