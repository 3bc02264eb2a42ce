/** The file descriptors that a session needs. */
import * as Fs from "node:fs"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../domain/Attempt.js"

/** The descriptors that a session uses with its first commands; with fewer, it would start and then fail. */
const fewest = 32

/** With a limit of so many there are enough; to count them takes a time. */
const plenty = 1024

const known = GlobalValue.globalValue("synapse/Descriptors/known", (): { limit?: number | undefined } => ({}))

const read = (): number | undefined =>
  Attempt.orUndefined(() => {
    const limits = Fs.readFileSync("/proc/self/limits", "latin1")
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? plenty)
  })

/** Returns the number of descriptors that this process may have; undefined where the system does not tell. */
export const limit = (): number | undefined => {
  if (!("limit" in known)) known.limit = read()
  return known.limit
}

/** Throws where this process may not open as many files more as a session needs. */
export const ensure = (): void => {
  if ((limit() ?? 0) >= plenty) return
  const open: Array<number> = []
  try {
    while (open.length < fewest) open.push(Fs.openSync("/dev/null", "r"))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EMFILE") throw error
    throw new Error(`EMFILE: a session needs ${fewest} file descriptors, and ${open.length} are left`)
  } finally {
    for (const fd of open) Fs.closeSync(fd)
  }
}
