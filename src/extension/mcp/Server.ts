/** Evaluates one server of a file: its program or address, and the files that have to be trusted. */

import * as Path from "node:path"
import * as Either from "effect/Either"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as HostPath from "../../sandbox/policy/HostPath.js"
import * as Definition from "./Definition.js"
import * as Launcher from "./internal/Launcher.js"
import type { McpServer } from "./McpClient.js"
import * as McpName from "./McpName.js"
import * as NamedFiles from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import type { HeldFiles } from "./TrustFile.js"

export type Variables = Readonly<Record<string, string | undefined>>

const reference = /\$\{([^{}]*)\}/g
const known = /^([A-Za-z_]\w*)(?::-(.*))?$/s
/** Matches variables that only editors fill in: `${input:token}`, `${env:NAME}`. */
const editors = /^[A-Za-z]+:(?!-)/

/**
 * Expands the variables of a text once; values are not expanded again. The left side names a variable that is unset or
 * empty and has no default. Other text in braces (`${x%y}`) stays unchanged.
 */
export const expand = (text: string, variables: Variables): Either.Either<string, string> => {
  let reason: string | undefined
  const expanded = text.replace(reference, (written, inner: string) => {
    if (editors.test(inner)) reason ??= `${written} is filled in by editors only`
    const [, name = "", fallback] = known.exec(inner) ?? []
    if (name === "") return written
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined && value !== "") return value
    if (fallback === undefined) reason ??= `the variable ${name} is ${value === "" ? "empty" : "not set"}`
    return fallback ?? ""
  })
  return reason === undefined ? Either.right(expanded) : Either.left(reason)
}

/** Returns the names of the variables in a text. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(reference)].flatMap(([, inner = ""]) => known.exec(inner)?.[1] ?? [])

/** A definition with its variables expanded. `cwd` is absolute. */
export type Expanded =
  | (NamedFiles.Program & { readonly _tag: "Stdio" })
  | Extract<Definition.Definition, { readonly _tag: "Http" }>

/** The places and variables that definitions are expanded with. */
interface Places {
  readonly variables: Variables
  /** The directory that `~` at the beginning of a word stands for. */
  readonly userHome: string
  /** The working directory, where a relative `cwd` starts. */
  readonly root: string
}

const header = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * Expands a definition. The left side says why it can't be used, without any value of a variable.
 *
 * @param directory the directory of a program whose definition names none
 */
export const expandDefinition = (
  definition: Definition.Definition,
  places: Places,
  directory: string
): Either.Either<Expanded, string> => {
  const fail = (at: string, reason: string) => Either.left(`${UntrustedText.word(at, 200)}: ${reason}`)
  const text = (written: string, at: string): Either.Either<string, string> =>
    Either.match(expand(written, places.variables), {
      onLeft: (reason) => fail(at, reason),
      onRight: (expanded) =>
        expanded.includes("\0") ? fail(at, "it holds a NUL, which no program can be given") : Either.right(expanded)
    })
  const texts = (written: Readonly<Record<string, string>>, at: string) => {
    const entries = Object.entries(written).map(([name, value]) =>
      Either.map(text(value, `${at}.${name}`), (value) => [name, value] as const)
    )
    return Either.map(Either.all(entries), (entries): Readonly<Record<string, string>> => Object.fromEntries(entries))
  }
  const word = (written: string, at: string) =>
    Either.map(text(written, at), (expanded) => expanded.replace(/^~(?=\/|$)/, () => places.userHome))

  return Either.gen(function* () {
    if (definition._tag === "Stdio") {
      const wrong = Object.keys(definition.env).find((name) => !/^[^=\0]+$/.test(name))
      if (wrong !== undefined)
        return yield* fail("env", `${UntrustedText.word(JSON.stringify(wrong))} can't be a variable's name`)
      const { cwd } = definition
      const from = cwd === undefined ? directory : yield* word(cwd, "cwd")
      const command = yield* word(definition.command, "command")
      if (command.trim() === "") return yield* fail("command", "it is empty")
      const args = yield* Either.all(definition.args.map((each, at) => word(each, `args[${at}]`)))
      const env = yield* texts(definition.env, "env")
      return { _tag: "Stdio", command, args, env, cwd: Path.resolve(places.root, from) }
    }
    const url = yield* text(definition.url, "url")
    const headers = yield* texts(definition.headers, "headers")
    for (const [name, value] of Object.entries(headers)) {
      if (!header.test(name))
        return yield* fail("headers", `${UntrustedText.word(JSON.stringify(name))} can't be a header's name`)
      if (/[\0-\x08\n-\x1f\x7f]|[^\0-\xff]/.test(value))
        return yield* fail(`headers.${name}`, "it holds a character that no header may hold")
    }
    const reason = URL.canParse(url) ? flawOf(new URL(url)) : "it is no address"
    return reason === undefined ? Definition.Definition.Http({ url, headers }) : yield* fail("url", reason)
  })
}

const flawOf = ({ password, protocol, username }: URL): string | undefined => {
  if (protocol !== "http:" && protocol !== "https:") return "it is no http or https address"
  return username + password === "" ? undefined : "it holds a user or a password, whose place is in headers"
}

export interface Origin {
  readonly source: McpServer["source"]
  readonly file: string
}

/** The places, variables and rules that servers are evaluated with. */
export interface ServerPlaces extends Places {
  /** The directory of Synapse's own files, `$SYNAPSE_HOME`. */
  readonly home: string
  /** Tests whether sandboxed commands may write to a path or to a link on the way to it. */
  readonly isWritable: (path: string) => boolean
  /** Returns why commands can still change a trusted file. Undefined if trusted content is enough. */
  readonly looseness?: HeldFiles | undefined
}

export interface Server {
  readonly origin: Origin
  /** The name, with invisible and control characters escaped. */
  readonly name: string
  readonly value: unknown
  readonly target: string
  /** Undefined if the entry can't be decoded. */
  readonly definition: Definition.Definition | undefined
  readonly isDisabled: boolean
  /** Keys without effect. */
  readonly ignored: ReadonlyArray<string>
  /** The program or the address, or on the left why neither can be used. */
  readonly expanded: Either.Either<Expanded, string>
  /** The paths in its words that commands may write. */
  readonly named: NamedFiles.Named
  /** Its definition, which the user has to trust. Only for a server of the home file that names a writable directory. */
  readonly consent: NamedFiles.NamedFile | undefined
}

/** Returns the directory that a program starts in. A server of the user's own file does not start in a project. */
const directoryOf = ({ source }: Pick<Origin, "source">, { home, root }: ServerPlaces): string =>
  source === "home" ? Path.join(home, "mcp") : root

/** Makes a definition independent of the directory that it was written in, for the home file. */
export const settle = (definition: Definition.Definition, directory: string): Definition.Definition => {
  if (definition._tag === "Http") return definition
  const { args, command, cwd } = definition
  if (cwd !== undefined) {
    const isElsewhere = /^[/~]|\$\{/.test(cwd)
    return isElsewhere ? definition : Definition.Definition.Stdio({ ...definition, cwd: Path.resolve(directory, cwd) })
  }
  const isHere = (path: string) => HostPath.isWithin(path, directory)
  const located = Launcher.locate({ ...definition, cwd: directory }, "", isHere)
  if (located.cwd === "") return Definition.Definition.Stdio({ ...located, cwd })
  const isNamed = [command, ...args].some((word) => !Path.isAbsolute(word) && HostPath.isFile(`${directory}/${word}`))
  return isNamed ? Definition.Definition.Stdio({ ...definition, cwd: directory }) : definition
}

/** Evaluates the entry of a server. */
export const make = (origin: Origin, name: string, value: unknown, around: ServerPlaces): Server => {
  const decoded = Definition.decode(value)
  const {
    definition,
    ignored = [],
    isDisabled = false
  }: Partial<Definition.Decoded> = Either.getOrElse(decoded, () => ({}))
  const ready = Either.gen(function* () {
    const misnamed = McpName.refusal(name)
    if (misnamed !== undefined) return yield* Either.left(misnamed)
    const { definition } = yield* decoded
    const expanded = yield* expandDefinition(definition, around, directoryOf(origin, around))
    if (expanded._tag === "Http") return { expanded, named: NamedFiles.nothing }
    const isPlaced = definition._tag === "Stdio" && definition.cwd !== undefined
    const own = directoryOf({ source: "home" }, around)
    // Tools look upwards for what they run.
    const elsewhere = Launcher.upwards(own).some(around.isWritable) ? "/" : own
    const program = isPlaced ? expanded : { ...expanded, ...Launcher.locate(expanded, elsewhere, around.isWritable) }
    const refusal = Launcher.refusal(program, around.isWritable)
    if (refusal !== undefined) return yield* Either.left(refusal)
    const named = yield* NamedFiles.find(program, { ...around, path: around.variables["PATH"] ?? "" })
    return { expanded: program, named }
  })
  const named = Either.match(ready, { onLeft: () => NamedFiles.nothing, onRight: ({ named }) => named })
  const isAsked = origin.source === "home" && named.places.length > 0
  return {
    origin,
    name: name === "" ? '""' : UntrustedText.word(name),
    value,
    target: definition === undefined ? "" : Definition.target(definition),
    definition,
    isDisabled,
    ignored,
    expanded: Either.map(ready, ({ expanded }) => expanded),
    named,
    consent: isAsked ? { path: `${origin.file}#${name}`, sha256: OwnFile.hash(JSON.stringify(value)) } : undefined
  }
}
