/** The queue of calls: one at a time, strictly in the order of asking. */
import * as Effect from "effect/Effect"
import * as CallContext from "../domain/CallContext.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as KeepAlive from "./KeepAlive.js"
import * as QueuedCommand from "./QueuedCommand.js"

interface HoldOptions {
  /** Stands for the place in the queue, by which `leave` can give it up earlier. */
  readonly turn?: object
  /** Called where it is interrupted before its turn has come. */
  readonly onGivenUp?: () => void
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
  /** The turns of calls that `pass` goes by. */
  private readonly passable = new Set<object>()

  /** Makes an empty queue; `bridge` is that of the shell whose commands it orders. */
  constructor(private readonly bridge?: unknown) {}

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
  hold<A, E, R>(run: Effect.Effect<A, E, R>, { onGivenUp, turn = {} }: HoldOptions = {}): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const waited = Effect.onInterrupt(this.take(turn), () => Effect.sync(() => onGivenUp?.()))
      return Effect.ensuring(
        Effect.suspend(() => (this.tryTake(turn) ? run : Effect.zipRight(waited, run))),
        Effect.sync(() => this.leave(turn))
      )
    })
  }

  /** Runs a command in its turn; at once where it is a part of the call whose turn it is, or the shell waits for it. */
  enter<A, E>(command: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.withFiberRuntime((fiber) => {
      const listener = fiber.getFiberRef(CommandListener.current)
      return this.isPart(fiber.getFiberRef(CallContext.current).within)
        ? command
        : this.hold(command, { onGivenUp: () => QueuedCommand.tellInterrupted({ listener }) })
    })
  }

  /** Runs a call that needs no shell in its turn. Its parts do not wait for it, nor does anybody after `pass`. */
  enterPassable<A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const turn = {}
    const inTurn = Effect.suspend(() => {
      if (!this.passable.has(turn)) this.leave(turn)
      return CallContext.locally(call, { within: this })
    })
    return Effect.withFiberRuntime((fiber) => {
      if (this.isPart(fiber.getFiberRef(CallContext.current).within)) return call
      this.passable.add(turn)
      return Effect.ensuring(
        this.hold(inTurn, { turn }),
        Effect.sync(() => this.passable.delete(turn))
      )
    })
  }

  /** Tests whether a call is a part of the call whose turn it is, or of a command in the shell. */
  private isPart(within: unknown): boolean {
    return within !== undefined && (within === this || within === this.bridge)
  }

  /** Keeps nobody waiting any more for the calls that need no shell: one of them may hang. */
  pass(): void {
    const turns = [...this.passable]
    this.passable.clear()
    for (const turn of turns) if (turn === this.holder) this.leave(turn)
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
