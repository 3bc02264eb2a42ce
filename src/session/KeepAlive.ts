/** Keeps this process alive while a command waits or runs. An idle shell does not keep it alive. */
import * as GlobalValue from "effect/GlobalValue"
import * as Timeout from "../domain/Timeout.js"

/** One timer for all sessions of the process. */
const shared = GlobalValue.globalValue("synapse/KeepAlive", () => ({
  holders: 0,
  timer: undefined as NodeJS.Timeout | undefined
}))

/** Keeps the process alive until `release` has been called as often as `hold`. */
export const hold = (): void => {
  if (shared.holders++ > 0) return
  shared.timer ??= setInterval(() => {}, Timeout.longest)
  shared.timer.ref()
}

export const release = (): void => {
  if (--shared.holders === 0) shared.timer?.unref()
}

/** Keeps the process alive until the promise settles, and returns the promise. */
export const during = <A>(promise: Promise<A>): Promise<A> => {
  hold()
  promise.then(release, release)
  return promise
}
