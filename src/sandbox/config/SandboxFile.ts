/**
 * The shape of `sandbox.json`. All of it may be left out; names that mean nothing here are passed over, and stay.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonText from "../../domain/JsonText.js"

const entries = Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })

const Filesystem = Schema.Struct({ whitelist: entries, blacklist: entries })
const Network = Schema.Struct({
  /** Whatever the file says: no rule gives access to the network. */
  allowNetwork: Schema.transform(Schema.Unknown, Schema.Literal(false), {
    strict: true,
    decode: () => false as const,
    encode: () => false
  }).pipe(Schema.optionalWith({ default: () => false as const }))
})
const Policy = Schema.Struct({
  filesystem: Schema.optionalWith(Filesystem, { default: () => ({ whitelist: [], blacklist: [] }) }),
  network: Schema.optionalWith(Network, { default: () => ({ allowNetwork: false as const }) })
})

/**
 * The schema of `sandbox.json`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SandboxFile = Schema.Struct({
  /** There is a sandbox unless this is the value `false` itself. */
  enabled: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  provider: Schema.optionalWith(Schema.NonEmptyString, { default: () => "local" }),
  policy: Schema.optionalWith(Policy, {
    default: () => ({ filesystem: { whitelist: [], blacklist: [] }, network: { allowNetwork: false as const } })
  }),
  /** What only the provider understands. */
  providerOptions: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), {
    default: () => ({})
  })
})

/**
 * What `sandbox.json` says, over the defaults.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxFile extends Schema.Schema.Type<typeof SandboxFile> {}

/**
 * What holds without a file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: SandboxFile = Schema.decodeSync(SandboxFile)({})

/** The names of each object, by its path. */
const known: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": ["enabled", "provider", "policy", "providerOptions"],
  policy: ["filesystem", "network"],
  "policy.filesystem": ["whitelist", "blacklist"],
  "policy.network": ["allowNetwork"]
}

/** A name that is meant to say something, and would say nothing where it stands. */
const findMisplaced = (value: unknown, path: ReadonlyArray<string> = []): JsonText.Flaw | undefined => {
  const here = path.join(".")
  const names = known[here]
  if (names === undefined || !Predicate.isReadonlyRecord(value)) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const at = JsonText.showPath([...path, name])
    if (names.includes(name)) {
      const flaw = findMisplaced(inner, [...path, name])
      if (flaw !== undefined) return flaw
      continue
    }
    const meant = names.find((other) => other.toLowerCase() === name.toLowerCase())
    if (meant !== undefined) return { path: at, reason: `the name is written ${meant}` }
    if (/^(?:white|black)list$/i.test(name)) {
      return { path: at, reason: `it has no effect here: its place is policy.filesystem.${name.toLowerCase()}` }
    }
  }
  return undefined
}

/**
 * Decodes what a file holds; on the left, what is wrong with it, and where.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (value: unknown): Either.Either<SandboxFile, JsonText.Flaw> => {
  const misplaced = findMisplaced(value)
  if (misplaced !== undefined) return Either.left(misplaced)
  return Either.mapLeft(Schema.decodeUnknownEither(SandboxFile)(value), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return { path: JsonText.showPath(issue?.path ?? []), reason: issue?.message ?? error.message }
  })
}

/**
 * A list of `policy.filesystem`.
 *
 * @since 0.1.0
 * @category models
 */
export type List = "whitelist" | "blacklist"

/**
 * An entry of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly list: List
  readonly entry: string
}

/**
 * Lists in the place of those with the same names.
 *
 * @since 0.1.0
 * @category models
 */
export type Lists = { readonly [list in List]?: ReadonlyArray<string> }

/**
 * Decides what is to become of the lists; undefined where they are right as they are.
 *
 * @since 0.1.0
 * @category models
 */
export type Change = (config: SandboxFile) => Lists | undefined

/**
 * Adds an entry to the end of a list that does not have it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const add =
  (list: List, entry: string): Change =>
  ({ policy: { filesystem } }) =>
    filesystem[list].includes(entry) ? undefined : { [list]: [...filesystem[list], entry] }

/**
 * Takes entries out of both lists.
 *
 * @since 0.1.0
 * @category combinators
 */
export const remove =
  (isToGo: (entry: Entry) => boolean): Change =>
  ({ policy: { filesystem } }) => {
    const left = (list: List) => filesystem[list].filter((entry) => !isToGo({ list, entry }))
    const [whitelist, blacklist] = [left("whitelist"), left("blacklist")]
    const changed = {
      ...(whitelist.length < filesystem.whitelist.length ? { whitelist } : {}),
      ...(blacklist.length < filesystem.blacklist.length ? { blacklist } : {})
    }
    return Object.keys(changed).length === 0 ? undefined : changed
  }

const childOf = (value: unknown, name: string): unknown => (Predicate.isReadonlyRecord(value) ? value[name] : undefined)

/**
 * Returns the edits that give a file other lists; entries that stay are not touched.
 *
 * @param value what the file holds, which `decode` takes
 * @since 0.1.0
 * @category combinators
 */
export const editsFor = (value: unknown, lists: Lists): ReadonlyArray<JsonText.Edit> => {
  const filesystem = childOf(childOf(value, "policy"), "filesystem")
  return Object.entries(lists).flatMap(([list, entries]): ReadonlyArray<JsonText.Edit> => {
    const path = ["policy", "filesystem", list]
    const old = childOf(filesystem, list)
    if (!Array.isArray(old)) return [JsonText.Edit.Set({ path, value: entries })]
    const [before, after] = [new Set(old), new Set(entries)]
    const gone = old.flatMap((entry, at) => (after.has(entry) ? [] : [at]))
    return [
      // From the end, so that the others keep their places.
      ...gone.reverse().map((at) => JsonText.Edit.Remove({ path: [...path, at] })),
      ...entries.filter((entry) => !before.has(entry)).map((entry) => JsonText.Edit.Append({ path, value: entry }))
    ]
  })
}
