/**
 * Turns by name: an effect that takes one waits for those that took one of the same name before.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

interface Turn {
  readonly semaphore: Effect.Semaphore
  /** The number of effects that have it or wait for it. */
  users: number
}

/**
 * Runs effects of the same name one after the other. It holds only names that are in use.
 *
 * @since 0.1.0
 */
export class Turns {
  private readonly turns = new Map<string, Turn>()

  get size(): number {
    return this.turns.size
  }

  take<A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = this.turns.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        turn.users++
        this.turns.set(name, turn)
        return turn
      }),
      ({ semaphore }) => semaphore.withPermits(1)(effect),
      (turn) =>
        Effect.sync(() => {
          if (--turn.users === 0) this.turns.delete(name)
        })
    )
  }
}
