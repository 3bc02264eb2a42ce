/**
 * A queue between the output of a call and one loop over it.
 *
 * @since 0.1.0
 */
import type { Output } from "./Synapse.js"

/**
 * A queue that makes the command wait: the promise of an offered chunk resolves when the chunk is taken.
 *
 * @since 0.1.0
 * @category models
 */
export class OutputQueue implements AsyncIterator<Output, undefined> {
  private readonly held: Array<Output> = []
  private readonly takers: Array<(result: IteratorResult<Output, undefined>) => void> = []
  private onTaken: Array<() => void> = []
  private isDone = false

  /** Adds output; returns a promise where the loop has not taken it yet. */
  offer(output: Output): Promise<void> | undefined {
    if (this.isDone) return undefined
    const taker = this.takers.shift()
    if (taker !== undefined) {
      taker({ done: false, value: output })
      return undefined
    }
    this.held.push(output)
    return new Promise((resolve) => this.onTaken.push(resolve))
  }

  /** Ends the queue; what was offered before can still be taken. */
  end(): void {
    this.isDone = true
    this.release()
    for (const taker of this.takers.splice(0)) taker({ done: true, value: undefined })
  }

  next(): Promise<IteratorResult<Output, undefined>> {
    const value = this.held.shift()
    if (value !== undefined) {
      if (this.held.length === 0) this.release()
      return Promise.resolve({ done: false, value })
    }
    if (this.isDone) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.takers.push(resolve))
  }

  /** Called when the loop is left: drops the rest. */
  return(): Promise<IteratorResult<Output, undefined>> {
    this.held.length = 0
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  private release(): void {
    for (const resolve of this.onTaken.splice(0)) resolve()
  }
}
