/** Checks that the process has enough file descriptors for a session. */
import * as Fs from "node:fs"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../domain/Attempt.js"

/** The descriptors that a session's first commands need. With fewer, the session would start and then fail. */
const fewest = 32

/** At this limit or above, the free descriptors are not counted, since counting is slow. */
const plenty = 1024

const known = GlobalValue.globalValue("synapse/Descriptors/known", (): { limit?: number | undefined } => ({}))

const read = (): number | undefined =>
  Attempt.orUndefined(() => {
    const limits = Fs.readFileSync("/proc/self/limits", "latin1")
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? plenty)
  })

/** Returns this process's limit of open files, or undefined if the system does not tell. */
export const limit = (): number | undefined => {
  if (!("limit" in known)) known.limit = read()
  return known.limit
}

/** Throws if the process can't open the files that a session needs. */
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
