/** Adds servers to a file and removes them from it; everything else in the file stays as it is written. */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JsonText from "../../domain/JsonText.js"
import * as ConfigFile from "./ConfigFile.js"
import * as OwnFile from "./OwnFile.js"
import * as ServerFile from "./ServerFile.js"

/** The file to change. */
export interface Target {
  readonly path: string
  readonly isHome: boolean
}

/**
 * The content of a file that was changed, as SHA-256: what was read and edited, undefined where there was no file, and
 * what was written in its place.
 */
export interface Change {
  readonly before: string | undefined
  readonly after: string
}

/** Yields undefined where there was nothing to change. */
type Edited = Effect.Effect<Change | undefined, ConfigFile.NotWritten, FileSystem.FileSystem>

const change = (
  target: Target,
  editsFor: (servers: ReadonlyMap<string, unknown>) => Either.Either<ReadonlyArray<JsonText.Edit>, string>
): Edited =>
  Effect.suspend(() => {
    // The file is read more than once; what counts is the reading that was edited and written.
    let before: string | undefined
    let after = ""
    const read = () => {
      const found = ServerFile.readBytes(target.path, target.isHome)
      before = found._tag === "Content" ? found.sha256 : undefined
      return found
    }
    const written = ConfigFile.update(target.path, read, (text = "{}\n") =>
      Either.flatMap(ServerFile.parse(text), (servers) =>
        Either.flatMap(editsFor(servers), (edits) => {
          if (edits.length === 0) return Either.right(undefined)
          const changed = JsonText.edit(text, edits)
          after = OwnFile.hash(changed)
          return Either.map(ServerFile.parse(changed), () => changed)
        })
      )
    )
    return Effect.map(written, (isWritten) => (isWritten ? { before, after } : undefined))
  })

/** Adds servers. Fails for a name that is taken, except with `isForced`, which replaces what it has. */
export const add = (
  target: Target,
  added: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  isForced = false
): Edited =>
  change(target, (servers) => {
    const taken = [...added.keys()].find((name) => servers.has(name))
    if (taken !== undefined && !isForced) return Either.left(`it has a server ${taken} already (--force replaces it)`)
    return Either.right([...added].map(([name, value]) => JsonText.Edit.Set({ path: ["mcpServers", name], value })))
  })

/** Removes a server. Returns undefined where the file has none of that name. */
export const remove = (target: Target, name: string): Edited =>
  change(target, (servers) =>
    Either.right(servers.has(name) ? [JsonText.Edit.Remove({ path: ["mcpServers", name] })] : [])
  )
