/**
 * What keeps the process alive: work on its way, and not the shell that waits for work.
 *
 * @since 0.1.0
 */

/**
 * Keeps the process alive until the function that it answers is called.
 *
 * @since 0.1.0
 */
export const hold = (): (() => void) => {
  const timer = setInterval(() => {}, 2 ** 31 - 1)
  return () => clearInterval(timer)
}

/**
 * Keeps the process alive until the promise is settled, and answers the promise.
 *
 * @since 0.1.0
 */
export const during = <A>(promise: Promise<A>): Promise<A> => {
  const release = hold()
  promise.then(release, release)
  return promise
}
