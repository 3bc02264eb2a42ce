/**
 * The time at which a directory was last changed: one look instead of one at each of its files.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

/**
 * Milliseconds after a change until another one is sure to have another time: file systems keep it in steps of up to two
 * seconds.
 */
const step = 2500

/**
 * Tests whether the directory at the path is the one with this inode; false where a command has taken the right to look.
 *
 * @since 0.1.0
 */
export const isThere = (path: string, inode: number): boolean => look(path)?.ino === inode

const look = (path: string): Fs.Stats | undefined => {
  try {
    return Fs.statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/**
 * Returns a stamp of the directory with this inode; undefined where it is not there, or where a further change could leave
 * the stamp as it is. While two stamps are equal, no file of the directory was made, deleted or renamed in between: the system alone sets the time that it is
 * taken from.
 *
 * @since 0.1.0
 */
export const of = (path: string, inode: number, now = Date.now()): number | undefined => {
  const stat = look(path)
  return stat?.ino !== inode || Math.abs(now - stat.ctimeMs) < step ? undefined : stat.ctimeMs
}
