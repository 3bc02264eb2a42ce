/**
 * The schema of `sandbox.json`. Every field is optional. An unknown name is an error, because a rule under it would
 * have no effect.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../../domain/JsonText.js"
import * as Similar from "../../domain/Similar.js"
import { defaults as missing } from "./SandboxDefaults.js"

const listOf = <A, I>(item: Schema.Schema<A, I>) =>
  Schema.Array(item).annotations({
    message: ({ actual }) => `it must be a list${typeof actual === "string" ? `: ${JSON.stringify([actual])}` : ""}`
  })

const entries = Schema.optionalWith(listOf(Schema.String), { default: () => missing.env })

const hidden = Schema.optional(Schema.Literal("empty"))

const Hidden = Schema.Struct({ path: Schema.String, hidden })

const Filesystem = Schema.Struct({
  whitelist: entries.annotations({ description: "paths that commands may write" }),
  blacklist: Schema.optionalWith(listOf(Schema.Union(Schema.String, Hidden)), {
    default: () => missing.env
  }).annotations({ description: "paths and patterns that commands may neither read nor write" }),
  hidden: hidden.annotations({ description: "`empty`: hidden files read as empty ones" }),
  readable: entries.annotations({ description: "paths that commands may read although a built-in rule hides them" })
})
const hosts = {
  allowedHosts: Schema.optional(listOf(Schema.String)).annotations({
    description: "hosts that commands may reach: `host`, `*.host`, `host:port`, an address, `localhost:port`"
  }),
  deniedHosts: Schema.optional(listOf(Schema.String)).annotations({
    description: "hosts that commands may not reach, whatever is allowed"
  })
}
const WrittenNetwork = Schema.Struct({
  allowNetwork: Schema.optional(Schema.Unknown).annotations({
    description: "no effect: name the hosts in `allowedHosts`, or start with `--allow-network`"
  }),
  ...hosts
})
/** `allowNetwork` is always false, whatever the file says: only named hosts can be reached. */
const Network = Schema.transform(
  WrittenNetwork,
  Schema.Struct({ allowNetwork: Schema.Literal(false), isAsked: Schema.optional(Schema.Literal(true)), ...hosts }),
  {
    strict: true,
    decode: ({ allowNetwork, ...named }) => ({
      ...named,
      allowNetwork: false as const,
      ...(allowNetwork === true ? { isAsked: true as const } : undefined)
    }),
    encode: ({ isAsked = false, allowNetwork: _, ...named }) => ({ ...named, allowNetwork: isAsked })
  }
)
const Limits = Schema.Struct({
  processes: Schema.optional(Schema.Int.pipe(Schema.between(16, 4_194_304))).annotations({
    description: "the most processes and threads; 2048 by default"
  }),
  memory: Schema.optional(Schema.Int.pipe(Schema.between(64, 4_194_304))).annotations({
    description: "MiB of memory for all commands of a session together; no limit by default"
  }),
  sharedMemory: Schema.optional(Schema.Int.pipe(Schema.between(1, 1024 ** 2))).annotations({
    description: "MiB of `/dev/shm`; a quarter of the memory by default"
  })
})
const Policy = Schema.Struct({
  filesystem: Schema.optionalWith(Filesystem, { default: () => missing.policy.filesystem }),
  network: Schema.optionalWith(Network, { default: () => missing.policy.network }),
  unixSockets: Schema.optional(Schema.Union(Schema.Boolean, Schema.Literal("own"))).annotations({
    description: "`own` for unix sockets that commands make, `true` for all unix sockets"
  }),
  sockets: Schema.optional(listOf(Schema.String)).annotations({
    description: "unix sockets of programs outside that commands may use, such as `$SSH_AUTH_SOCK`"
  }),
  toolCache: Schema.optional(Schema.Boolean).annotations({
    description: "`false` for no directory for the caches of tools"
  }),
  temporary: Schema.optional(Schema.Literal("private", "host")).annotations({
    description: "`host` for the machine's `/tmp`, `private` for one of the working directory"
  }),
  limits: Schema.optional(Limits)
})

/**
 * The schema of `sandbox.json`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SandboxFile = Schema.Struct({
  /** The JSON Schema by which an editor checks the file. */
  $schema: Schema.optional(Schema.String),
  enabled: Schema.optionalWith(Schema.Boolean, { default: () => missing.enabled }).annotations({
    description: "`false` switches the sandbox off"
  }),
  provider: Schema.optionalWith(Schema.NonEmptyString, { default: () => missing.provider }).annotations({
    description: "what makes the sandbox; `local` by default"
  }),
  policy: Schema.optionalWith(Policy, {
    default: () => missing.policy
  }),
  env: entries.annotations({
    description: "variables that commands get besides those of every sandbox, secrets or not"
  }),
  profile: Schema.optional(Schema.Boolean).annotations({
    description: "`true` adds the variables of your login shell, but for secrets"
  }),
  providerOptions: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), {
    default: () => missing.providerOptions
  }).annotations({ description: "options that only the provider reads" })
})

/**
 * The content of `sandbox.json`, with the defaults filled in.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxFile extends Schema.Schema.Type<typeof SandboxFile> {}

/**
 * The content of `sandbox.json` if there is no file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: SandboxFile = missing

/** The names known in each object, by the object's path; for a list's entries, by the list's path. */
const known: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": Object.keys(SandboxFile.fields),
  policy: Object.keys(Policy.fields),
  "policy.filesystem": Object.keys(Filesystem.fields),
  "policy.network": Object.keys(WrittenNetwork.fields),
  "policy.limits": Object.keys(Limits.fields),
  "policy.filesystem.blacklist": Object.keys(Hidden.fields)
}

/** Explains why an unknown name has no effect. */
const misplacedIn = (here: string, name: string): string => {
  const isMeant = (other: string) => other.toLowerCase() === name.toLowerCase()
  const own = known[here]?.find(isMeant)
  if (own !== undefined) return `the name is written ${own}`
  const place = Object.keys(known).find((each) => known[each]?.some(isMeant))
  if (place === undefined) {
    const near = Similar.nearest(name, known[here] ?? [])
    return `unknown setting; ${near === undefined ? `there are ${known[here]?.join(", ")}` : `${near} may be meant`}`
  }
  if (isMeant("allowNetwork")) return "it has no effect: name the hosts in policy.network.allowedHosts"
  if (place === "") return "it has no effect here: its place is the top of the file"
  return `it has no effect here: its place is ${place}.${known[place]?.find(isMeant)}`
}

const flawIn = (found: ReadonlyArray<JsonText.Flaw | undefined>) => found.find((flaw) => flaw !== undefined)

/** Finds an unknown name in an object, which would have no effect. */
const findMisplaced = (value: unknown, path: ReadonlyArray<string | number> = []): JsonText.Flaw | undefined => {
  if (Array.isArray(value) && typeof path.at(-1) === "string")
    return flawIn(value.map((item, at) => findMisplaced(item, [...path, at])))
  const here = path.filter((part) => typeof part === "string").join(".")
  const names = known[here]
  if (names === undefined || !Predicate.isReadonlyRecord(value)) return undefined
  return flawIn(
    Object.entries(value).map(([name, inner]) =>
      names.includes(name)
        ? findMisplaced(inner, [...path, name])
        : { path: JsonText.showPath([...path, name]), reason: misplacedIn(here, name) }
    )
  )
}

/**
 * Decodes the content of a file. The left value is the first flaw and its position.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (value: unknown): Either.Either<SandboxFile, JsonText.Flaw> => {
  const misplaced = findMisplaced(value)
  if (misplaced !== undefined) return Either.left(misplaced)
  return Either.mapLeft(Schema.decodeUnknownEither(SandboxFile, { onExcessProperty: "error" })(value), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return { path: JsonText.showPath(issue?.path ?? []), reason: issue?.message ?? error.message }
  })
}

/**
 * The name of a list in `policy.filesystem`.
 *
 * @since 0.1.0
 * @category models
 */
export type List = "whitelist" | "blacklist" | "readable"

/**
 * The name of a list in `policy.network`.
 *
 * @since 0.1.0
 * @category models
 */
export type HostList = "allowedHosts" | "deniedHosts"

/**
 * An entry, and the list that it is on.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly list: List | HostList
  readonly entry: string
}

/**
 * New lists that replace the lists of the same names.
 *
 * @since 0.1.0
 * @category models
 */
export type Lists = { readonly [list in List | HostList]?: ReadonlyArray<Written> }

/**
 * An entry of a list, in the form of the file.
 *
 * @since 0.1.0
 * @category models
 */
export type Written = string | { readonly path: string; readonly hidden?: "empty" | undefined }

/**
 * Returns the path or pattern of an entry.
 *
 * @since 0.1.0
 * @category getters
 */
export const textOf = (entry: Written): string => (typeof entry === "string" ? entry : entry.path)

/**
 * Computes the new lists from the configuration; undefined if nothing changes.
 *
 * @since 0.1.0
 * @category models
 */
export type Change = (config: SandboxFile) => Lists | undefined

/**
 * Returns the object of `policy` that holds a list.
 *
 * @since 0.1.0
 */
export const placeOf = (list: List | HostList): "filesystem" | "network" =>
  list === "allowedHosts" || list === "deniedHosts" ? "network" : "filesystem"

const lists = ["whitelist", "blacklist", "readable", "allowedHosts", "deniedHosts"] as const

const entriesOf = ({ policy: { filesystem, network } }: SandboxFile, list: List | HostList): ReadonlyArray<Written> =>
  ({ ...filesystem, ...network })[list] ?? []

/**
 * Appends an entry to a list, unless it is already there.
 *
 * @since 0.1.0
 * @category combinators
 */
export const add =
  (list: List | HostList, entry: string): Change =>
  (config) => {
    const entries = entriesOf(config, list)
    return entries.some((one) => textOf(one) === entry) ? undefined : { [list]: [...entries, entry] }
  }

/**
 * Removes all matching entries from the lists.
 *
 * @since 0.1.0
 * @category combinators
 */
export const remove =
  (isToGo: (entry: Entry) => boolean): Change =>
  (config) => {
    const changed = lists.flatMap((list) => {
      const entries = entriesOf(config, list)
      const left = entries.filter((entry) => !isToGo({ list, entry: textOf(entry) }))
      return left.length < entries.length ? [[list, left] as const] : []
    })
    return changed.length === 0 ? undefined : Object.fromEntries(changed)
  }

const childOf = (value: unknown, name: string): unknown => (Predicate.isReadonlyRecord(value) ? value[name] : undefined)

/**
 * Returns the edits that give the file's text other lists. Entries that stay are not touched.
 *
 * @param value the content of the file, as `decode` takes it
 * @since 0.1.0
 * @category combinators
 */
export const editsFor = (value: unknown, lists: Lists): ReadonlyArray<JsonText.Edit> => {
  return Object.entries(lists).flatMap(([list, entries]): ReadonlyArray<JsonText.Edit> => {
    const place = placeOf(list as List | HostList)
    const path = ["policy", place, list]
    const old = childOf(childOf(childOf(value, "policy"), place), list)
    if (!Array.isArray(old)) return [JsonText.Edit.Set({ path, value: entries })]
    const [before, after] = [new Set(old.map(textOf)), new Set(entries.map(textOf))]
    const gone = old.flatMap((entry, at) => (after.has(textOf(entry)) ? [] : [at]))
    return [
      // From the end, so that the other indices stay valid.
      ...gone.reverse().map((at) => JsonText.Edit.Remove({ path: [...path, at] })),
      ...entries
        .filter((entry) => !before.has(textOf(entry)))
        .map((entry) => JsonText.Edit.Append({ path, value: entry }))
    ]
  })
}
