/** Reads and replaces the files of the MCP configuration. */
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Directories from "../../files/Directories.js"
import * as AtomicFile from "../../sandbox/config/AtomicFile.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as OwnFile from "./OwnFile.js"

/** The error for a configuration file that can't be written. */
export class NotWritten extends Schema.TaggedError<NotWritten>("synapse/NotWritten")("NotWritten", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.reason}. Nothing was written.`
  }
}

/** Reads a file of `$SYNAPSE_HOME/mcp`. Refuses links, so that only the user can have written it. */
export const readOwn = (path: string, most: number): OwnFile.Found => {
  const directory = Path.dirname(path)
  return HostPath.isLink(directory, "/")
    ? Either.left(`${directory} is a symbolic link, which is not followed here`)
    : OwnFile.read(path, { most, isAlone: true })
}

/**
 * Replaces a configuration file by the text that `change` makes of the current one, or leaves it if `change` returns
 * undefined. Creates the directory. A file that can't be read is not replaced.
 */
export const update = (
  path: string,
  readFile: () => OwnFile.Found,
  change: (text: string | undefined) => Either.Either<string | undefined, string>
): Effect.Effect<boolean, NotWritten, FileSystem.FileSystem> => {
  const fail = (reason: string) => new NotWritten({ path, reason })
  const changed = Effect.suspend(() => Either.flatMap(OwnFile.textOf(readFile()), change)).pipe(
    Effect.mapBoth({ onFailure: fail, onSuccess: Option.fromNullable })
  )
  return Effect.gen(function* () {
    yield* Directories.makeEffect(Path.dirname(path))
    // Check before a lock file is written, because the directory may be a link.
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
