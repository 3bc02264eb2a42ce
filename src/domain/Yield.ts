/** Does long work in slices. Between two slices, the event loop handles cancels, timeouts and other calls. */
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"

/** The longest slice, in milliseconds. */
const longest = 8

/**
 * Work that can pause at each `yield`. Yields should be at most about a millisecond apart; shorter work needs none.
 */
export type Steps<A> = Generator<void, A>

/** Gives turns of the event loop to one waiting fiber at a time, so that their slices do not add up. */
class EventLoop {
  private readonly waiting = new Set<() => void>()

  readonly turn: Effect.Effect<void> = Effect.async<void>((resume) => {
    const go = () => resume(Effect.void)
    this.add(go)
    return Effect.sync(() => void this.waiting.delete(go))
  })

  add(go: () => void): void {
    if (this.waiting.size === 0) setImmediate(this.next)
    this.waiting.add(go)
  }

  private readonly next = (): void => {
    const [first] = this.waiting
    if (first === undefined) return
    this.waiting.delete(first)
    // Schedule first: the slice itself may wait for another turn.
    if (this.waiting.size > 0) setImmediate(this.next)
    first()
  }
}

/** Shared by all copies of this module, because a process has one event loop. */
const eventLoop = GlobalValue.globalValue("synapse/Yield", () => new EventLoop())

/** Waits for a turn of the event loop. For callbacks of other libraries. */
export const turn = (): Promise<void> => new Promise((resolve) => eventLoop.add(resolve))

/** The longest text, in characters, that a pass works on without yielding first. */
const mostAtOnce = 256 * 1024

/**
 * Runs a pass over a text. If the text is long, it first waits for a turn of the event loop, so that the times of
 * several passes do not add up.
 */
export const pass = <A, E, R>(text: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  text.length > mostAtOnce ? Effect.zipRight(eventLoop.turn, effect) : effect

/** Runs several pieces of work that share their slices. */
export class Slices {
  private end = performance.now() + longest

  /** Runs work to its end. It can be interrupted between two slices. */
  run<A>(steps: Steps<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (this.isOver) return Effect.zipRight(this.rest, this.run(steps))
      }
    })
  }

  private get isOver(): boolean {
    return performance.now() >= this.end
  }

  private readonly rest: Effect.Effect<void> = Effect.map(eventLoop.turn, () => {
    this.end = performance.now() + longest
  })
}

/** Runs work in slices, to its end. */
export const run = <A>(steps: () => Steps<A>): Effect.Effect<A> => Effect.suspend(() => new Slices().run(steps()))

/** Runs work without pausing. */
export const now = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
