/**
 * Looks at what there is at a path outside of the sandbox, and what the user may do with it there.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"

/**
 * Whether there is surely nothing: where nobody may look, there may be something.
 *
 * @since 0.1.0
 * @category looking
 */
export const isMissing = (path: string): boolean => {
  try {
    return Fs.lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOTDIR" || code === "ENAMETOOLONG"
  }
}

/**
 * Whether there is a symbolic link, without following it.
 *
 * @param path absolute, or relative to the directory
 * @since 0.1.0
 * @category looking
 */
export const isLink = (path: string, directory: string): boolean => {
  try {
    return Fs.lstatSync(path.startsWith("/") ? path : `${directory}/${path}`).isSymbolicLink()
  } catch {
    return false
  }
}

/**
 * Whether there is a directory, or a link to one.
 *
 * @since 0.1.0
 * @category looking
 */
export const isDirectory = (path: string): boolean => {
  try {
    return Fs.statSync(path).isDirectory()
  } catch {
    return false
  }
}

/**
 * Whether the user could write there if there were no sandbox: to what exists, or in the directory that it would lie in.
 *
 * @since 0.1.0
 * @category looking
 */
export const isWritable = (path: string): boolean => {
  if (!isMissing(path) && mayAccess(path, Fs.constants.W_OK)) return true
  let directory = Path.posix.dirname(path)
  while (directory !== "/" && isMissing(directory)) directory = Path.posix.dirname(directory)
  return mayAccess(directory, Fs.constants.W_OK | Fs.constants.X_OK)
}

const mayAccess = (path: string, mode: number): boolean => {
  try {
    Fs.accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
