/** Tells whether files are still as they were when they were read. */
import * as FileStamp from "../../../files/FileStamp.js"

/** The age of a change, in milliseconds, below which a second one might bear the same time. */
const settled = 2000

/** The files that something was read from. */
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
 */
export const make = (now: number): FileStamps => {
  const stamps = new Map<string, string>()
  let areSettled = true
  return {
    add: (path) => {
      if (stamps.has(path)) return
      const { changed, text } = FileStamp.of(path)
      stamps.set(path, text)
      if (Math.abs(now - changed) < settled) areSettled = false
    },
    areCurrent: () => areSettled && [...stamps].every(([path, stamp]) => FileStamp.of(path).text === stamp)
  }
}
