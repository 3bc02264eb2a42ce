/**
 * Tells whether files are still as they were when they were read.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

/** The age of a change, in milliseconds, below which a second one might bear the same time. */
const settled = 2000

/** Describes what is at a path, with the time of its last change in milliseconds; 0 where nothing is there. */
const stampOf = (path: string): readonly [stamp: string, changed: number] => {
  try {
    const own = Fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    // Most paths that a server may name have nothing at them: an exception would take ten times as long.
    if (own === undefined) return ["-", 0]
    const at = own.isSymbolicLink() ? [own, Fs.statSync(path, { bigint: true, throwIfNoEntry: false })] : [own]
    const stamp = at.map((stats) =>
      stats === undefined ? "-" : [stats.dev, stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].join()
    )
    return [stamp.join(" "), Math.max(...at.map((stats) => Number(stats?.ctimeMs ?? 0)))]
  } catch (error) {
    return [error instanceof Error && "code" in error ? String(error.code) : "?", 0]
  }
}

/**
 * The files that something was read from.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileStamps {
  /** Adds a path, which is to be read after that, whether or not something is there. */
  readonly add: (path: string) => void
  /**
   * Returns whether nothing has changed at any path. It is false as well where a file was changed so shortly before it
   * was read that a later change could not be told from that one.
   */
  readonly areCurrent: () => boolean
}

/**
 * Makes the stamps of no file.
 *
 * @param now the time, in milliseconds since 1970
 * @since 0.1.0
 * @category constructors
 */
export const make = (now: number): FileStamps => {
  const stamps = new Map<string, string>()
  let areSettled = true
  return {
    add: (path) => {
      if (stamps.has(path)) return
      const [stamp, changed] = stampOf(path)
      stamps.set(path, stamp)
      if (Math.abs(now - changed) < settled) areSettled = false
    },
    areCurrent: () => areSettled && [...stamps].every(([path, stamp]) => stampOf(path)[0] === stamp)
  }
}
