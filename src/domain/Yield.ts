/**
 * Does long work in slices, between which the event loop has its turn: cancels, timeouts and other calls are heard
 * while the work goes on.
 */
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"

/** Milliseconds after which a slice ends. */
const longest = 8

/**
 * Work that can rest wherever it yields. Between two of these places it takes a millisecond or so at most; work of less
 * than that has none, so that it is done at once.
 */
export type Steps<A> = Generator<void, A>

/** Gives turns of the event loop to those who wait for one: one at a time, so that their slices don't add up. */
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
    // Before the slice, which may wait for another turn itself.
    if (this.waiting.size > 0) setImmediate(this.next)
    first()
  }
}

/** A process has one event loop, whatever number of copies of this module it loads. */
const eventLoop = GlobalValue.globalValue("synapse/Yield", () => new EventLoop())

/** Waits for a turn of the event loop, for the callbacks of other libraries. Of all who wait, one goes on in each. */
export const turn = (): Promise<void> => new Promise((resolve) => eventLoop.add(resolve))

/** The most characters of a text that is worked on without a rest before each pass over it. */
const mostAtOnce = 256 * 1024

/**
 * Runs what passes over a text: at once, or after a turn of the event loop where the text is long, so that the times of
 * one pass and the next don't add up.
 */
export const pass = <A, E, R>(text: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  text.length > mostAtOnce ? Effect.zipRight(eventLoop.turn, effect) : effect

/** Runs work that belongs together, of which each slice may hold several pieces. */
export class Slices {
  private end = performance.now() + longest

  /** Runs work to its end. An interruption ends it between two slices. */
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

/** Runs work at once, without a rest. */
export const now = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
