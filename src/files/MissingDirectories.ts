/**
 * Creates directories on the host, with those above them that are missing. They are this user's alone. The `recursive` of
 * node's own functions never returns below `/proc`, which `HOME` may name.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import type { FileSystem } from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

const mode = 0o700

/**
 * Creates a directory; throws the file system's error. `toHost` makes what the file system takes of a path.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (path: string, toHost: (path: string) => string | Buffer = (each) => each): void => {
  const at = toHost(path)
  if (Fs.existsSync(at)) return
  make(Path.dirname(path), toHost)
  try {
    Fs.mkdirSync(at, { mode })
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}

/**
 * Creates a directory by a file system's service.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeBy = (files: FileSystem, path: string): Effect.Effect<void, PlatformError> =>
  Effect.flatMap(files.exists(path), (isThere) =>
    isThere
      ? Effect.void
      : Effect.zipRight(
          Effect.suspend(() => makeBy(files, Path.dirname(path))),
          Effect.catchIf(
            files.makeDirectory(path, { mode }),
            (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
            () => Effect.void
          )
        )
  )
