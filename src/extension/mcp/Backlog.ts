/**
 * Counts what a server has been answered and has not taken yet. Who reads its requests waits where that is too much, so
 * that a server which asks without end is not read without end.
 *
 * @since 0.1.0
 */

/**
 * The answers that a server has not taken yet.
 *
 * @since 0.1.0
 * @category models
 */
export interface Backlog {
  /** Counts an answer of this size until it is taken, or can't be. */
  readonly add: (size: number, taken: Promise<unknown>) => void
  /** Resolves when there is room for more; undefined where there is. */
  readonly room: () => Promise<void> | undefined
  /** Ends all waiting, for good. */
  readonly release: () => void
}

/**
 * Makes an empty backlog.
 *
 * @param most the size from which on there is no room
 * @since 0.1.0
 * @category constructors
 */
export const make = (most: number): Backlog => {
  let size = 0
  let isReleased = false
  let waiting: Array<() => void> = []
  const wake = () => {
    const woken = waiting
    waiting = []
    for (const each of woken) each()
  }
  const hasRoom = () => isReleased || size < most
  return {
    add: (added, taken) => {
      size += added
      const done = () => {
        size -= added
        if (hasRoom()) wake()
      }
      taken.then(done, done)
    },
    room: () => (hasRoom() ? undefined : new Promise((resolve) => waiting.push(resolve))),
    release: () => {
      isReleased = true
      wake()
    }
  }
}
