/** A queue for the turns in a session's shell: one at a time, strictly in the order of asking. */
import * as Effect from "effect/Effect"
import * as KeepAlive from "../KeepAlive.js"

/** The options of `hold`. */
export interface HoldOptions {
  /** Called where it is interrupted before its turn has come. */
  readonly onGivenUp?: () => void
  /** Called when the effect has ended, however it did; the turn is given up after what it returns. */
  readonly onEnded?: () => Effect.Effect<void> | undefined
}

/**
 * A queue for one turn, which keeps the process alive while somebody has the turn. Unlike a semaphore of one permit, it
 * hands the turn over directly: nobody who comes later gets it between its release and the wake-up of whoever waits.
 */
export class CommandQueue {
  private holder: object | undefined
  /** What begins each waiting turn, in the order of asking. */
  private readonly waiting = new Map<object, () => void>()
  /** Goes on where it stopped: the first key of a map is slow to find once many before it were deleted. */
  private readonly order = this.waiting.keys()

  /** True where nobody has the turn. */
  get isFree(): boolean {
    return this.holder === undefined
  }

  /** Takes the turn if nobody has it; returns whether it did. */
  tryTake(turn: object): boolean {
    if (this.holder !== undefined) return false
    this.holder = turn
    KeepAlive.hold()
    return true
  }

  /**
   * Takes the turn, waiting for it if necessary. Interruption gives up the place in the queue, or the turn if it has
   * just come.
   */
  take(turn: object): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.tryTake(turn)) return resume(Effect.void)
      this.waiting.set(turn, () => resume(Effect.void))
      return Effect.sync(() => this.leave(turn))
    })
  }

  /** Runs an effect in a turn of its own. */
  hold<A, E, R>(run: Effect.Effect<A, E, R>, { onEnded, onGivenUp }: HoldOptions = {}): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const turn = {}
      return Effect.ensuring(
        Effect.suspend(() =>
          this.tryTake(turn)
            ? run
            : Effect.zipRight(
                Effect.onInterrupt(this.take(turn), () => Effect.sync(() => onGivenUp?.())),
                run
              )
        ),
        Effect.suspend(() => {
          const rest = onEnded?.()
          if (rest !== undefined)
            return Effect.ensuring(
              rest,
              Effect.sync(() => this.leave(turn))
            )
          this.leave(turn)
          return Effect.void
        })
      )
    })
  }

  /** Gives up the turn or the place in the queue; does nothing for whoever has neither. */
  leave(turn: object): void {
    if (this.holder !== turn) {
      this.waiting.delete(turn)
      return
    }
    const next = this.waiting.size === 0 ? undefined : this.order.next().value
    this.holder = next
    if (next === undefined) return KeepAlive.release()
    const begin = this.waiting.get(next)
    this.waiting.delete(next)
    begin?.()
  }
}
