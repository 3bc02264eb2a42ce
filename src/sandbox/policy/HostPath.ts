/**
 * Inspects paths outside of the sandbox, with the user's rights.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"

/** The longest path that any system takes, in bytes. */
const longest = 4095

export const isTooLong = (path: string): boolean => path.length > longest

/** Tests whether a path surely does not exist. Returns false if the user may not look. */
export const isMissing = (path: string): boolean => {
  try {
    return Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false }) === undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOTDIR" || code === "ENAMETOOLONG"
  }
}

const orFalse = (look: () => boolean): boolean => Attempt.orElse(look, false)

/**
 * Tests whether a path is a symbolic link, without following it.
 *
 * @param path absolute, or relative to the directory
 */
export const isLink = (path: string, directory: string): boolean =>
  orFalse(() => Fs.lstatSync(BytePath.toHost(path.startsWith("/") ? path : `${directory}/${path}`)).isSymbolicLink())

/** Tests whether a path is a regular file, not a link to one. */
export const isFile = (path: string): boolean => orFalse(() => Fs.lstatSync(BytePath.toHost(path)).isFile())

/** Tests whether a path is a directory, or a link to one. */
export const isDirectory = (path: string): boolean => orFalse(() => Fs.statSync(BytePath.toHost(path)).isDirectory())

/** Tests whether a path is a program, or a link to one, that this user may run. */
export const isProgram = (path: string): boolean =>
  orFalse(() => Fs.statSync(BytePath.toHost(path), { throwIfNoEntry: false })?.isFile() === true) &&
  isAccessible(path, Fs.constants.X_OK)

/** Tests whether a path is a socket, not a link to one. */
export const isSocket = (path: string): boolean => orFalse(() => Fs.lstatSync(BytePath.toHost(path)).isSocket())

/** Tests whether a path is the directory itself or lies in it. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === "/" || path.startsWith(`${directory}/`)

const nearestDirectory = (path: string): string => {
  let directory = Path.posix.dirname(path)
  while (directory !== "/" && isMissing(directory)) directory = Path.posix.dirname(directory)
  return directory
}

export const isAccessible = (path: string, mode: number): boolean =>
  orFalse(() => Fs.accessSync(BytePath.toHost(path), mode) === undefined)

/**
 * Tests whether the user could write a path without a sandbox: the file itself, or a new file in its nearest existing
 * directory.
 */
export const isWritable = (path: string): boolean =>
  (!isMissing(path) && isAccessible(path, Fs.constants.W_OK)) ||
  isAccessible(nearestDirectory(path), Fs.constants.W_OK | Fs.constants.X_OK)

const bits = { read: Fs.constants.R_OK, write: Fs.constants.W_OK, enter: Fs.constants.X_OK } as const

/** Tests a right by a file's mode, as the kernel does for processes without root's powers. */
const hasByMode = ({ gid, mode, uid }: Fs.Stats, right: keyof typeof bits): boolean => {
  const isOwner = uid === process.geteuid?.()
  const isOfGroup = gid === process.getegid?.() || process.getgroups?.().includes(gid) === true
  return (mode & (bits[right] << (isOwner ? 6 : isOfGroup ? 3 : 0))) !== 0
}

/** Tests a right to a file. For root, the mode decides, because the system grants root everything. */
const has = (path: string, right: keyof typeof bits): boolean =>
  isAccessible(path, bits[right]) &&
  (process.geteuid?.() !== 0 || orFalse(() => hasByMode(Fs.statSync(BytePath.toHost(path)), right)))

/**
 * Tests whether file modes let commands, which lack root's powers, read or write a path. A missing path is readable,
 * and writable if its nearest existing directory is.
 *
 * @param path a real path
 */
export const hasRights = (path: string, access: "read" | "write"): boolean => {
  for (let at = nearestDirectory(path); ; at = Path.posix.dirname(at)) {
    if (!has(at, "enter")) return false
    if (at === "/") break
  }
  if (!isMissing(path)) return has(path, access)
  return access === "read" || has(nearestDirectory(path), "write")
}

/** Returns a unique identifier for what a path leads to; undefined if it can't be inspected. */
export const identityAt = (path: string): string | undefined =>
  Attempt.orUndefined(() => {
    const { dev, ino } = Fs.statSync(BytePath.toHost(path), { bigint: true })
    return `${dev}:${ino}`
  })

/**
 * Returns a unique identifier for the file or directory at a real path, or `missing`. Undefined if a link leads to it
 * or it can't be inspected.
 */
export const identityOf = (path: string): string | undefined => {
  try {
    if (BytePath.realPath(path) !== path) return undefined
    const { dev, ino } = Fs.lstatSync(BytePath.toHost(path), { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : undefined
  }
}
