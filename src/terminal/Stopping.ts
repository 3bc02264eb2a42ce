/**
 * Ctrl-Z: the program stops, and goes on with `fg`.
 *
 * @since 0.1.0
 */

/** Milliseconds until a stop that the system has ignored, for nobody could continue the program, is taken as over. */
const pause = 50

/**
 * Calls `leave` before this process stops by SIGTSTP, and `back` when it goes on; returns a function that removes both.
 *
 * @since 0.1.0
 */
export const listen = (leave: () => void, back: () => void): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const onStop = (): void => {
    leave()
    // Without a listener, the signal does what it always does: nothing where no shell waits for this process.
    process.off("SIGTSTP", onStop)
    process.kill(process.pid, "SIGTSTP")
    timer = setTimeout(() => {
      process.on("SIGTSTP", onStop)
      back()
    }, pause)
  }
  process.on("SIGTSTP", onStop)
  return () => {
    clearTimeout(timer)
    process.off("SIGTSTP", onStop)
  }
}
