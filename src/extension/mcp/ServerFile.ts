/** The files that list MCP servers: one in the working directory, and one in `$SYNAPSE_HOME`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { stripComments } from "jsonc-parser"
import * as Attempt from "../../domain/Attempt.js"
import * as Collect from "../../domain/Collect.js"
import * as JsonText from "../../domain/JsonText.js"
import { serversFile } from "../../sandbox/config/PolicyBuilder.js"
import * as ConfigFile from "./ConfigFile.js"
import * as OwnFile from "./OwnFile.js"

export interface Target {
  readonly path: string
  readonly isHome: boolean
}

/** A change of a file, as SHA-256 of the content before (if the file existed) and after. */
export interface Change {
  readonly before: string | undefined
  readonly after: string
}

/** Yields undefined if nothing had to change. */
type Edited = Effect.Effect<Change | undefined, ConfigFile.NotWritten, FileSystem.FileSystem>

const change = (
  target: Target,
  editsFor: (servers: ReadonlyMap<string, unknown>) => Either.Either<ReadonlyArray<JsonText.Edit>, string>
): Edited =>
  Effect.suspend(() => {
    // The file is read more than once. This is the text that was edited and written.
    let made: Change | undefined
    const written = ConfigFile.update(
      target.path,
      () => readBytes(target.path, target.isHome),
      (before) =>
        Either.gen(function* () {
          const text = before ?? "{}\n"
          const edits = yield* editsFor(yield* parse(text))
          if (edits.length === 0) return undefined
          const changed = JsonText.edit(text, edits)
          yield* parse(changed)
          made = { before: before === undefined ? undefined : OwnFile.hash(before), after: OwnFile.hash(changed) }
          return changed
        })
    )
    return Effect.map(written, (isWritten) => (isWritten ? made : undefined))
  })

/** Adds servers. Fails for a name that is taken, unless `isForced` replaces it. */
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

/** Removes a server. Returns undefined if the file does not have it. */
export const remove = (target: Target, name: string): Edited =>
  change(target, (servers) =>
    Either.right(servers.has(name) ? [JsonText.Edit.Remove({ path: ["mcpServers", name] })] : [])
  )

/** The entries of the servers by name, and the hash of the bytes that they were read from. */
interface Servers {
  readonly servers: ReadonlyMap<string, unknown>
  readonly sha256: string
}

const largest = 1024 ** 2

export const inHome = (home: string): string => Path.join(home, "mcp", serversFile)

/** Returns the paths that a project's file may have. It uses the directory's real path, under which trust is stored. */
export const candidates = (cwd: string): ReadonlyArray<string> => {
  const real = Attempt.orElse(() => Fs.realpathSync(cwd), cwd)
  return [serversFile, ".mcp.json"].map((name) => Path.join(real, name))
}

/** Returns the path of a project's file: of the first one that exists, or of the one to make. */
export const inProject = (cwd: string): string => {
  const [first = cwd, ...others] = candidates(cwd)
  return Fs.existsSync(first) ? first : (others.find((path) => Fs.existsSync(path)) ?? first)
}

const readBytes = (path: string, isHome: boolean): OwnFile.Found =>
  isHome ? ConfigFile.readOwn(path, largest) : OwnFile.read(path, { most: largest })

/** Parses the text of a file, or says on the left why it lists no servers. */
const parse = (text: string): Either.Either<ReadonlyMap<string, unknown>, string> =>
  JsonText.parse(stripComments(text, " ")).pipe(
    Either.mapLeft(({ path, reason }) => (path === "" ? reason : `${path}: ${reason}`)),
    Either.flatMap((value) => {
      if (!Predicate.isReadonlyRecord(value)) return Either.left("it is no object")
      const servers = Object.hasOwn(value, "mcpServers") ? value["mcpServers"] : undefined
      if (servers === undefined) {
        return Object.keys(value).length === 0 ? Either.right(new Map()) : Either.left('it has no "mcpServers"')
      }
      if (!Predicate.isReadonlyRecord(servers)) return Either.left('its "mcpServers" is no object')
      return Either.right(new Map(Object.entries(servers)))
    })
  )

/** Reads the servers of a file, if it exists. The left side says why they can't be read. */
export const read = (path: string, isHome: boolean): Either.Either<Servers | undefined, string> =>
  Either.flatMap(readBytes(path, isHome), (content) =>
    content === undefined
      ? Either.right(undefined)
      : Either.map(Either.flatMap(Collect.toText(content.bytes), parse), (servers) => ({
          servers,
          sha256: content.sha256
        }))
  )
