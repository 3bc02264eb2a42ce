/**
 * Replaces a file as a whole, one change at a time: a reader always finds the old text or the new one, even after the
 * machine has failed, and no change overwrites another.
 */
import * as Path from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as FileLock from "./FileLock.js"

/** The mode of a file that was not there before. */
const ownerOnly = 0o600

/**
 * Writes the text to a file beside `path`, whose name is always the same, and renames it. The mode and the owner stay;
 * a new file is readable by its owner only. Fails for a file that may not be written, even where its directory may.
 */
const replace = (path: string, text: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const temporary = Path.join(Path.dirname(path), `.${Path.basename(path)}.new`)

    const write = Effect.gen(function* () {
      const old = (yield* files.exists(path)) ? yield* files.stat(path) : undefined
      if (old !== undefined) yield* files.open(path, { flag: "r+" })
      // A process that died here has left its draft.
      yield* files.remove(temporary, { force: true })
      const file = yield* files.open(temporary, { flag: "wx", mode: ownerOnly })
      yield* file.writeAll(new TextEncoder().encode(text))
      if (old !== undefined) {
        const made = yield* file.stat
        const isOwned = Equal.equals(made.uid, old.uid) && Equal.equals(made.gid, old.gid)
        if (!isOwned && old.uid._tag === "Some" && old.gid._tag === "Some") {
          yield* files.chown(temporary, old.uid.value, old.gid.value)
        }
        yield* files.chmod(temporary, old.mode & 0o7777)
      }
      yield* file.sync
    })

    yield* Effect.scoped(write).pipe(
      Effect.zipRight(files.rename(temporary, path)),
      Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true })))
    )
    // The new name has to survive a failure of the machine as well; not every file system can do that.
    const directory = Effect.flatMap(files.open(Path.dirname(path), { flag: "r" }), ({ sync }) => sync)
    yield* Effect.ignore(Effect.scoped(directory))
  }).pipe(Effect.uninterruptible)

/**
 * Runs `change` while no other process and no other fiber changes the file, and replaces the file with the text that it
 * returns; with none, the file stays. Returns whether the file was replaced. `change` has to read the file itself, for
 * only then is it the current text.
 *
 * Fails with Locked after waiting ten seconds for a running process that holds the lock.
 *
 * @param path the file's real path
 */
export const update = <E, R>(
  path: string,
  change: Effect.Effect<Option.Option<string>, E, R>
): Effect.Effect<boolean, E | FileLock.Locked | PlatformError, R | FileSystem.FileSystem> =>
  change.pipe(
    Effect.tap(Option.match({ onNone: () => Effect.void, onSome: (text) => replace(path, text) })),
    Effect.map(Option.isSome),
    FileLock.withLock(`${path}.lock`)
  )
