/** One server of a file, by itself: what it is, and which of its files are to be trusted. */

import * as Path from "node:path"
import * as Either from "effect/Either"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Definition from "./Definition.js"
import * as Expanded from "./internal/Expanded.js"
import type { HeldFiles } from "./internal/HeldFiles.js"
import * as Launcher from "./internal/Launcher.js"
import type { McpServer } from "./McpClient.js"
import * as NamedFiles from "./NamedFiles.js"
import * as ServerName from "./ServerName.js"

/** A file of servers. */
export interface Origin {
  readonly source: McpServer["source"]
  readonly file: string
}

/** The places, variables and rules that servers are read with. */
export interface Surroundings extends Expanded.Places {
  /** `$SYNAPSE_HOME`. */
  readonly home: string
  /** Tests whether sandboxed commands may write to a path, or to a link on the way to it. */
  readonly isWritable: (path: string) => boolean
  /** Tells why commands can still change a trusted file; undefined where trusted content is enough. */
  readonly looseness?: HeldFiles | undefined
}

/** A server as it is written in a file. */
export interface Server {
  readonly origin: Origin
  /** The name, with what no name may hold made visible. */
  readonly name: string
  readonly value: unknown
  readonly target: string
  /** Undefined where it can't be decoded. */
  readonly definition: Definition.Definition | undefined
  readonly isDisabled: boolean
  /** The keys that have no effect. */
  readonly ignored: ReadonlyArray<string>
  /** What can be started or spoken to; on the left is the reason why nothing can. */
  readonly expanded: Either.Either<Expanded.Expanded, string>
  /** The paths that its words may name and commands may write, whether or not something is there. */
  readonly paths: ReadonlyArray<string>
}

/** Returns the directory that a program is started in: where it is not a project's, none that the project's files are in. */
const directoryOf = ({ source }: Pick<Origin, "source">, { home, root }: Surroundings): string =>
  source === "home" ? Path.join(home, "mcp") : root

/** Makes a server of what is written under a name. */
export const make = (origin: Origin, name: string, value: unknown, around: Surroundings): Server => {
  const decoded = Definition.decode(value)
  const { definition, ignored, isDisabled } = Either.getOrElse(decoded, () => ({
    definition: undefined,
    ignored: [],
    isDisabled: false
  }))
  const named = ServerName.refusal(name)
  const expanded = Either.flatMap(named === undefined ? decoded : Either.left(named), (found) =>
    Either.map(Expanded.make(found.definition, around, directoryOf(origin, around)), (program) => {
      if (program._tag !== "Stdio" || found.definition._tag !== "Stdio" || found.definition.cwd !== undefined)
        return program
      return { ...program, ...Launcher.locate(program, directoryOf({ source: "home" }, around), around.isWritable) }
    })
  )
  const paths = Either.flatMap(expanded, (found) => {
    if (found._tag !== "Stdio") return Either.right([])
    const refusal = Launcher.refusal(found, around.isWritable)
    return refusal === undefined
      ? NamedFiles.pathsOf(found, around.variables["PATH"] ?? "", around.isWritable)
      : Either.left(refusal)
  })
  return {
    origin,
    name: name === "" ? '""' : ForeignText.word(name),
    value,
    target: definition === undefined ? "" : Definition.target(definition),
    definition,
    isDisabled,
    ignored,
    expanded: Either.flatMap(paths, () => expanded),
    paths: Either.getOrElse(paths, () => [])
  }
}
