/** Reads and replaces the files of the MCP configuration. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Collect from "../../domain/Collect.js"
import * as Directories from "../../files/Directories.js"
import * as AtomicFile from "../../sandbox/config/AtomicFile.js"
import * as OwnFile from "./OwnFile.js"

/** The error for a file of the configuration that can't be written. */
export class NotWritten extends Schema.TaggedError<NotWritten>("synapse/NotWritten")("NotWritten", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}. Nothing was written.`
  }
}

/** Returns why the directory of Synapse's MCP files is none of its own; undefined where it is, or is missing. */
const strange = (directory: string): string | undefined => {
  const stats = Fs.lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return undefined
  return `${directory} is ${stats.isSymbolicLink() ? "a symbolic link, which is not followed here" : "no directory"}`
}

/** Reads a file of `$SYNAPSE_HOME/mcp`, which nobody but the user can have written. */
export const readOwn = (path: string, most: number): OwnFile.OwnFile => {
  try {
    const reason = strange(Path.dirname(path))
    return reason === undefined ? OwnFile.read(path, { most, isAlone: true }) : OwnFile.OwnFile.Refused({ reason })
  } catch (error) {
    return OwnFile.OwnFile.Refused({ reason: error instanceof Error ? error.message : String(error) })
  }
}

/**
 * Replaces a file of the configuration by the text that `change` makes of the current one; where it makes none, the
 * file stays. Creates the directory. A file that can't be read is not replaced.
 */
export const update = (
  path: string,
  readFile: () => OwnFile.OwnFile,
  change: (text: string | undefined) => Either.Either<string | undefined, string>
): Effect.Effect<boolean, NotWritten, FileSystem.FileSystem> => {
  const fail = (reason: string) => new NotWritten({ path, reason })
  const changed = Effect.suspend(() =>
    OwnFile.OwnFile.$match(readFile(), {
      Missing: () => change(undefined),
      Refused: ({ reason }) => Either.left(reason),
      Content: ({ bytes }) => Either.flatMap(Collect.toText(bytes), change)
    })
  ).pipe(Effect.mapBoth({ onFailure: fail, onSuccess: Option.fromNullable }))
  return Effect.gen(function* () {
    yield* Directories.makeEffect(Path.dirname(path))
    // Before there is a lock beside it: the directory may be a link.
    yield* changed
    return yield* AtomicFile.update(path, changed)
  }).pipe(
    Effect.catchTags({
      SystemError: (error) => fail(error.description ?? error.message),
      BadArgument: (error) => fail(error.message),
      Locked: (error) => fail(error.message)
    })
  )
}
