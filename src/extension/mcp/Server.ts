/**
 * One server of a file, by itself: what it is, and which of its files are to be trusted.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Definition from "./Definition.js"
import * as Expanded from "./Expanded.js"
import type { HeldFiles } from "./HeldFiles.js"
import * as Launcher from "./Launcher.js"
import type { McpServer } from "./McpClient.js"
import * as NamedFiles from "./NamedFiles.js"
import * as PackageRunner from "./PackageRunner.js"
import * as ServerName from "./ServerName.js"

/**
 * A file of servers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Origin {
  readonly source: McpServer["source"]
  readonly file: string
}

/**
 * The places, variables and rules that servers are read with.
 *
 * @since 0.1.0
 * @category models
 */
export interface Surroundings extends Expanded.Places {
  /** `$SYNAPSE_HOME`. */
  readonly home: string
  /** Tests whether sandboxed commands may write to a path, or to a link on the way to it. */
  readonly isWritable: (path: string) => boolean
  /** Tells why commands can still change a trusted file; undefined where trusted content is enough. */
  readonly looseness?: HeldFiles | undefined
}

/**
 * A server as it is written in a file.
 *
 * @since 0.1.0
 * @category models
 */
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

/**
 * Makes a server of what is written under a name.
 *
 * @since 0.1.0
 * @category constructors
 */
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
      // In the project, it would take what commands put there for the program that it is to fetch.
      return PackageRunner.isAnywhere(program) ? { ...program, cwd: directoryOf({ source: "home" }, around) } : program
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
