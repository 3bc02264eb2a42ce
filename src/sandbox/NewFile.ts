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

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = Fs.constants

const attempt = (path: string, use: () => void): Effect.Effect<void, ExecutionFailed> =>
  Effect.try({
    try: use,
    catch: (error) =>
      new ExecutionFailed({ kind: "sandbox", reason: `${path} can't be made: ${(error as Error).message}` })
  })

/**
 * Makes the file; one that is there already stays as it is.
 *
 * @since 0.1.0
 */
export const make = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => {
    try {
      Fs.closeSync(Fs.openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !Fs.lstatSync(path).isFile()) throw error
    }
  })

/**
 * Tests whether this process can make the file.
 *
 * @since 0.1.0
 */
export const check = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => Fs.accessSync(Path.dirname(path), Fs.constants.W_OK))
