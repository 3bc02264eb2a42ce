/**
 * Makes directories with those around them. The `recursive` of node's own function never returns below `/proc`, nor by a
 * link to a directory that was removed: both are places that a link of a command may lead to.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as PlatformError from "@effect/platform/Error"
import * as Effect from "effect/Effect"

/** Makes a directory unless something is there; throws the file system's error. */
export const makeOne = (path: string | Buffer): void => {
  try {
    Fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

/**
 * Makes a directory and those around it, where they are missing, for this user alone; throws the file system's error.
 *
 * @param toHost gives a path as the system has it
 */
export const make = (path: string, toHost: (path: string) => string | Buffer = (same) => same): void => {
  if (Fs.existsSync(toHost(path))) return
  const around = Path.dirname(path)
  if (around !== path) make(around, toHost)
  makeOne(toHost(path))
}

/**
 * Makes a directory and the one around it, but none above them: a missing home directory is not made. Throws the file
 * system's error.
 */
export const makeBoth = (path: string): void => {
  for (const one of [Path.dirname(path), path]) makeOne(one)
}

/** Makes a directory as `make` does. */
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
