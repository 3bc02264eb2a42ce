/** Turns at a file: an effect that takes one waits for those that took one at the same file before. */
import * as Effect from "effect/Effect"

interface Turn {
  readonly semaphore: Effect.Semaphore
  /** The number of effects that have it or wait for it. */
  users: number
}

/** Runs effects of the same name one after the other. It holds only names that are in use. */
export class FileTurns {
  private readonly turns = new Map<string, Turn>()

  /** The number of names in use. */
  get size(): number {
    return this.turns.size
  }

  /** Takes the turn of each name, in this order, and runs the effect. */
  takeAll<A, E, R>(names: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return names.reduceRight((inner, name) => this.take(name, inner), effect)
  }

  /** Runs the effect when all that took the same turn before have ended. */
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
