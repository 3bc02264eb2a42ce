/** Describes the state of a file, so that a change can be seen. */
import * as Fs from "node:fs"

/** The state of a path, and of the target if the path is a symbolic link. */
export interface FileStamp {
  /** Changes if the file does. */
  readonly text: string
  /** The time of the last change in milliseconds since 1970, or 0 if nothing exists. */
  readonly changed: number
}

const textOf = ({ ctimeNs, dev, ino, mode, mtimeNs, size }: Fs.BigIntStats): string =>
  [dev, ino, mode, size, mtimeNs, ctimeNs].join()

export const of = (path: string | Buffer): FileStamp => {
  try {
    const own = Fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
    // Most of these paths do not exist, and an exception would take ten times as long.
    if (own === undefined) return { text: "-", changed: 0 }
    if (!own.isSymbolicLink()) return { text: textOf(own), changed: Number(own.ctimeMs) }
    const target = Fs.statSync(path, { bigint: true, throwIfNoEntry: false })
    return {
      text: `${textOf(own)} ${target === undefined ? "-" : textOf(target)}`,
      changed: Math.max(Number(own.ctimeMs), Number(target?.ctimeMs ?? 0))
    }
  } catch (error) {
    return { text: error instanceof Error && "code" in error ? String(error.code) : "?", changed: 0 }
  }
}

/** A file that changes twice within this time, in ms, may keep its stamp: the clocks of file systems are coarse. */
const unsettled = 100

/** Returns the state of a path to compare with a later one; undefined shortly after a change. */
export const settled = (path: string | Buffer): string | undefined => {
  const { changed, text } = of(path)
  return changed < Date.now() - unsettled ? text : undefined
}
