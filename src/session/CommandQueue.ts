/** A queue of calls that run one at a time, in the order of arrival. */
import * as Effect from "effect/Effect"
import * as CallContext from "../domain/CallContext.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as KeepAlive from "./KeepAlive.js"
import * as QueuedCommand from "./QueuedCommand.js"

interface HoldOptions {
  /** Identifies the place in the queue, so that `leave` can give it up early. */
  readonly turn?: object
  /** Called if the effect is interrupted before its turn. */
  readonly onGivenUp?: () => void
}

/**
 * A queue for one turn, which keeps this process alive while the turn is taken. Unlike a semaphore of one permit, it
 * hands the turn over directly: no newcomer gets it before the next waiting call wakes up.
 */
export class CommandQueue {
  private holder: object | undefined
  /** Starts each waiting turn, in the order of arrival. */
  private readonly waiting = new Map<object, () => void>()
  /** One iterator for the whole life of the map. A fresh `keys()` is slow after many deletions. */
  private readonly order = this.waiting.keys()
  /** The turns of calls that `pass` skips. */
  private readonly passable = new Set<object>()

  /** Creates an empty queue. `bridge` is the bridge of the shell whose commands it orders. */
  constructor(private readonly bridge?: unknown) {}

  get isFree(): boolean {
    return this.holder === undefined
  }

  /** Takes the turn if it is free. Returns whether it did. */
  tryTake(turn: object): boolean {
    if (this.holder !== undefined) return false
    this.holder = turn
    KeepAlive.hold()
    return true
  }

  /** Takes the turn, waiting if necessary. Interruption gives up the turn, or the place in the queue. */
  take(turn: object): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.tryTake(turn)) return resume(Effect.void)
      this.waiting.set(turn, () => resume(Effect.void))
      return Effect.sync(() => this.leave(turn))
    })
  }

  hold<A, E, R>(run: Effect.Effect<A, E, R>, { onGivenUp, turn = {} }: HoldOptions = {}): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const entered = Effect.suspend(() => {
        if (this.tryTake(turn)) return run
        const waited = Effect.onInterrupt(this.take(turn), () => Effect.sync(() => onGivenUp?.()))
        return Effect.zipRight(waited, run)
      })
      return Effect.ensuring(
        entered,
        Effect.sync(() => this.leave(turn))
      )
    })
  }

  /** Runs a command in its turn, or at once if whoever has the turn waits for it. */
  enter<A, E>(command: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.withFiberRuntime((fiber) => {
      const listener = fiber.getFiberRef(CommandListener.current)
      return this.isPart(fiber.getFiberRef(CallContext.current).within)
        ? command
        : this.hold(command, { onGivenUp: () => QueuedCommand.tellInterrupted({ listener }) })
    })
  }

  /** Runs a call that needs no shell in its turn. Its own parts do not wait for it; after `pass`, nobody does. */
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

  /** Tests whether a call is part of the call that has the turn, or of a command in the shell. */
  private isPart(within: unknown): boolean {
    return within !== undefined && (within === this || within === this.bridge)
  }

  /** Stops making others wait for calls that need no shell, since such a call may hang. */
  pass(): void {
    const turns = [...this.passable]
    this.passable.clear()
    for (const turn of turns) if (turn === this.holder) this.leave(turn)
  }

  /** Gives up the turn or the place in the queue, if the caller has one. */
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
