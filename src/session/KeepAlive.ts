/**
 * Keeps the process alive while work is on its way: a shell that waits for work does not.
 *
 * @since 0.1.0
 */
import * as GlobalValue from "effect/GlobalValue"

/** One timer for all sessions of the process, which counts as a reason to stay while somebody holds it. */
const shared = GlobalValue.globalValue("synapse/KeepAlive", () => ({
  holders: 0,
  timer: undefined as NodeJS.Timeout | undefined
}))

/**
 * Keeps the process alive until `release` has been called as often.
 *
 * @since 0.1.0
 */
export const hold = (): void => {
  if (shared.holders++ > 0) return
  shared.timer ??= setInterval(() => {}, 2 ** 31 - 1)
  shared.timer.ref()
}

/**
 * Takes back one `hold`.
 *
 * @since 0.1.0
 */
export const release = (): void => {
  if (--shared.holders === 0) shared.timer?.unref()
}

/**
 * Keeps the process alive until the promise is settled, and answers the promise.
 *
 * @since 0.1.0
 */
export const during = <A>(promise: Promise<A>): Promise<A> => {
  hold()
  promise.then(release, release)
  return promise
}
