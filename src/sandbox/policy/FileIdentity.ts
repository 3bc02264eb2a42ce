/** Tells a file or directory from any other that may come to its place. */
import * as Fs from "node:fs"
import * as BytePath from "./BytePath.js"

/**
 * Returns what is at a path, given as its real one, in a word that nothing else has; one word for all that is not there.
 * Undefined where a link leads to it, or it can't be looked at.
 */
export const of = (path: string): string | undefined => {
  try {
    if (BytePath.realPath(path) !== path) return undefined
    const { dev, ino } = Fs.lstatSync(BytePath.toHost(path), { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : undefined
  }
}
