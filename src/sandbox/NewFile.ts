/**
 * Files that a person lets a command make in a directory which stays read-only: only what exists can be mounted, so that
 * they are made before, empty.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../domain/CommandError.js"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = Fs.constants

/** Opens a directory without the right to read it (Linux). */
const O_PATH = 0o10000000

const attempt = (path: string, use: () => void): Effect.Effect<void, ExecutionFailed> =>
  Effect.try({
    try: use,
    catch: (error) =>
      new ExecutionFailed({ kind: "sandbox", reason: `${path} can't be made: ${(error as Error).message}` })
  })

/** Makes the file at a path whose directory can't be another one any more. */
const makeAt = (path: string): void => {
  try {
    Fs.closeSync(Fs.openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !Fs.lstatSync(path).isFile()) throw error
  }
}

/**
 * Makes the file; one that is there already stays as it is. Fails where a link leads to its directory by now: another
 * session may have put one there since it was asked for.
 *
 * @since 0.1.0
 */
export const make = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => {
    const parent = Path.dirname(path)
    if (process.platform !== "linux") {
      if (Fs.realpathSync(parent) !== parent) throw new Error(`a link leads to ${parent}`)
      return makeAt(path)
    }
    const directory = Fs.openSync(parent, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_RDONLY)
    try {
      const held = `/proc/self/fd/${directory}`
      // What was opened, and not what has the name by now.
      if (Fs.readlinkSync(held) !== parent) throw new Error(`a link leads to ${parent}`)
      makeAt(`${held}/${Path.basename(path)}`)
    } finally {
      Fs.closeSync(directory)
    }
  })

/**
 * Tests whether this process can make the file.
 *
 * @since 0.1.0
 */
export const check = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => Fs.accessSync(Path.dirname(path), Fs.constants.W_OK))
