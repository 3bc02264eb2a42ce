/**
 * Turns by name: what takes one under a name waits for what has taken one under the same name before.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

interface Turn {
  readonly semaphore: Effect.Semaphore
  /** Whoever has it or waits for it. */
  users: number
}

/**
 * Lets what works under one name run one after the other. It holds no more names than are in use.
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
