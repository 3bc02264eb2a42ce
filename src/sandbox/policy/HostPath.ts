/** Inspects paths outside of the sandbox, with the rights of the user. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as BytePath from "./BytePath.js"

/** The most bytes of a path that a system takes. */
const longest = 4095

/** Tests whether a path is longer than any that a system takes. */
export const isTooLong = (path: string): boolean => path.length > longest

/** Tests whether a path surely does not exist: false also where the user may not look. */
export const isMissing = (path: string): boolean => {
  try {
    return Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false }) === undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOTDIR" || code === "ENAMETOOLONG"
  }
}

/**
 * Tests whether a path is a symbolic link, without following it.
 *
 * @param path absolute, or relative to the directory
 */
export const isLink = (path: string, directory: string): boolean => {
  try {
    return Fs.lstatSync(BytePath.toHost(path.startsWith("/") ? path : `${directory}/${path}`)).isSymbolicLink()
  } catch {
    return false
  }
}

/** Tests whether a path is a directory, or a link to one. */
export const isDirectory = (path: string): boolean => {
  try {
    return Fs.statSync(BytePath.toHost(path)).isDirectory()
  } catch {
    return false
  }
}

/**
 * Tests whether the user could write to a path without a sandbox: to the file itself, or in the nearest directory above
 * it that exists.
 */
export const isWritable = (path: string): boolean => {
  if (!isMissing(path) && mayAccess(path, Fs.constants.W_OK)) return true
  let directory = Path.posix.dirname(path)
  while (directory !== "/" && isMissing(directory)) directory = Path.posix.dirname(directory)
  return mayAccess(directory, Fs.constants.W_OK | Fs.constants.X_OK)
}

const mayAccess = (path: string, mode: number): boolean => {
  try {
    Fs.accessSync(BytePath.toHost(path), mode)
    return true
  } catch {
    return false
  }
}

/** Tests whether a path is the directory itself or lies in it. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === "/" || path.startsWith(`${directory}/`)
