/** Keeps the process alive while a command is on its way; a shell that waits for a command does not. */
import * as GlobalValue from "effect/GlobalValue"
import * as Timeout from "../domain/Timeout.js"

/** The timer of all sessions in the process; it keeps the process alive while somebody holds it. */
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

/** Undoes one `hold`. */
export const release = (): void => {
  if (--shared.holders === 0) shared.timer?.unref()
}

/** Keeps the process alive until the promise is settled, and returns the promise. */
export const during = <A>(promise: Promise<A>): Promise<A> => {
  hold()
  promise.then(release, release)
  return promise
}
