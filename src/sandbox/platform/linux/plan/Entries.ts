/** Lists directories that commands may have made: names that are not UTF-8, rights that hide what is in them. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as BytePath from "../../../policy/BytePath.js"

/** An entry of a directory; its name is one of `BytePath`. */
export type Entry = Pick<Fs.Dirent, "name" | "isDirectory" | "isFile" | "isSymbolicLink">

/** The most bytes of a directory's path that are walked on from: what is in it still has a path that a mount takes. */
const longest = 3800

/** The codes of errors by which the system lacks something itself: nothing is known of the path then. */
const shortages = new Set(["EMFILE", "ENFILE", "ENOMEM"])

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const rethrowShortage = (error: unknown): void => {
  if (shortages.has(codeOf(error) ?? "")) throw error
}

const isTooLong = (path: string): boolean => path.length * 3 > longest && BytePath.encode(path).length > longest

/**
 * Lists a directory, which may be reached by another path; undefined where it can't be listed (`closedAt` tells why), or
 * its path is too long to go on. Throws where the system has no descriptors or no memory left.
 */
export const list = (directory: string, reached = directory): ReadonlyArray<Entry> | undefined => {
  if (isTooLong(directory)) return undefined
  try {
    const entries = Fs.readdirSync(BytePath.toHost(reached), { withFileTypes: true })
    return entries.some(({ name }) => BytePath.isDoubtful(name)) ? listBytes(reached) : entries
  } catch (error) {
    rethrowShortage(error)
    return undefined
  }
}

const listBytes = (directory: string): ReadonlyArray<Entry> =>
  Fs.readdirSync(BytePath.encode(directory), { encoding: "buffer", withFileTypes: true }).map((entry) => ({
    name: BytePath.decode(entry.name),
    isDirectory: () => entry.isDirectory(),
    isFile: () => entry.isFile(),
    isSymbolicLink: () => entry.isSymbolicLink()
  }))

const mayEnter = (directory: string): boolean => {
  try {
    Fs.accessSync(BytePath.toHost(directory), Fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Tests whether commands can make a directory give up what is in it: they may enter it, or may change its rights. Throws
 * where it is not there.
 */
const isWithinReach = (directory: string): boolean => {
  const at = Fs.lstatSync(BytePath.toHost(directory))
  return at.isDirectory() && (at.uid === process.geteuid?.() || mayEnter(directory))
}

/** Tests whether a directory is this user's. */
export const isOwn = (directory: string): boolean => {
  try {
    return Fs.lstatSync(BytePath.toHost(directory)).uid === process.geteuid?.()
  } catch {
    return false
  }
}

/** The reason why such a directory is masked whole. */
export const unsearchable = "it can't be searched for what the blacklist names"

/**
 * Returns the directory that hides a path from a walk, and that commands may look into: the path itself, which can't be
 * listed, or the one on the way to it that can't be entered. Undefined where there is none: the path is gone, is no
 * directory, or is closed to commands too.
 */
export const closedAt = (path: string): string | undefined => {
  try {
    return isWithinReach(path) ? path : undefined
  } catch (error) {
    rethrowShortage(error)
    return codeOf(error) === "EACCES" && path !== "/" ? closedAt(Path.dirname(path)) : undefined
  }
}

/** Returns the directory that hides from us whether anything exists at a path, and that commands may look into. */
export const hiding = (path: string): string | undefined => {
  try {
    Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })
    return undefined
  } catch (error) {
    rethrowShortage(error)
    return codeOf(error) === "EACCES" ? closedAt(Path.dirname(path)) : undefined
  }
}
