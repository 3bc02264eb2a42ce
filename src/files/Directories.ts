/**
 * Makes directories and their parents. Node's `recursive` option never returns below `/proc` or behind a link to a
 * deleted directory, and a command's link may lead there.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as PlatformError from "@effect/platform/Error"
import * as Effect from "effect/Effect"

/** Makes a directory unless something exists there. Throws the file system's error. */
export const makeOne = (path: string | Buffer): void => {
  try {
    Fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

/**
 * Makes a directory and its missing parents, accessible to this user only. Throws the file system's error.
 *
 * @param toHost converts a path into that of the system
 */
export const make = (path: string, toHost: (path: string) => string | Buffer = (same) => same): void => {
  if (Fs.existsSync(toHost(path))) return
  const around = Path.dirname(path)
  if (around !== path) make(around, toHost)
  makeOne(toHost(path))
}

/**
 * Makes a directory and its parent, but nothing above: a missing home directory is not made. Throws the file system's
 * error.
 */
export const makeBoth = (path: string): void => {
  for (const one of [Path.dirname(path), path]) makeOne(one)
}

export const makeEffect = (path: string): Effect.Effect<void, PlatformError.SystemError> =>
  Effect.try({
    try: () => make(path),
    catch: (error) => {
      const { code, message } = error as NodeJS.ErrnoException
      return new PlatformError.SystemError({
        reason: code === "ENOENT" ? "NotFound" : code === "EACCES" || code === "EROFS" ? "PermissionDenied" : "Unknown",
        module: "FileSystem",
        method: "makeDirectory",
        pathOrDescriptor: path,
        description: message,
        cause: error
      })
    }
  })
