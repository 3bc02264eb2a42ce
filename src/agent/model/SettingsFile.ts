/**
 * Reads `settings.json`: the providers of models, and the prices of their tokens.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { InvalidUsage } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as JsonText from "../../domain/JsonText.js"
import * as OwnFile from "../../extension/mcp/OwnFile.js"

const count = Schema.Int.pipe(Schema.positive())
const price = Schema.Number.pipe(Schema.between(0, 1_000_000_000))

/**
 * The schema of a provider.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Provider = Schema.Struct({
  /** Its protocol; for `anthropic` and `openai` it is their own, else `compatible` by default. */
  kind: Schema.optional(
    Schema.Literal("anthropic", "openai", "compatible").annotations({
      // Without the override, the first one alone would be named.
      message: () => ({ message: 'it must be "anthropic", "openai" or "compatible"', override: true })
    })
  ),
  baseUrl: Schema.optional(Schema.NonEmptyString),
  apiKey: Schema.optional(Schema.Redacted(Schema.NonEmptyString)),
  /** The name of the variable that holds the key. */
  apiKeyVariable: Schema.optional(Schema.NonEmptyString),
  /** Its model where none is named. */
  model: Schema.optional(Schema.NonEmptyString),
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String) })),
  /** The most tokens of a request. */
  contextWindow: Schema.optional(count),
  /** The most tokens of an answer. */
  maxOutput: Schema.optional(count),
  /** False for a server that can't stream its answers. */
  stream: Schema.optional(Schema.Boolean),
  /** False for a model that takes no images. */
  images: Schema.optional(Schema.Boolean)
})

/**
 * A provider.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider extends Schema.Schema.Type<typeof Provider> {}

/**
 * The schema of `settings.json`. Prices are per million tokens; their names are those of models, and may hold `*`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SettingsFile = Schema.Struct({
  provider: Schema.optional(Schema.NonEmptyString),
  model: Schema.optional(Schema.NonEmptyString),
  providers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Provider }), { default: () => ({}) }),
  prices: Schema.optionalWith(
    Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ input: price, output: price, cached: Schema.optional(price) })
    }),
    { default: () => ({}) }
  )
})

/**
 * The content of `settings.json`.
 *
 * @since 0.1.0
 * @category models
 */
export interface SettingsFile extends Schema.Schema.Type<typeof SettingsFile> {}

/** The most bytes of the file. */
const largest = 1024 ** 2

/**
 * Returns the path of the file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const pathIn = (home: string): string => Path.join(home, "settings.json")

/**
 * Decodes the text of a file; on the left is the error, which names the file, the place and what is right there. It shows
 * no key.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (file: string, text: string): Either.Either<SettingsFile, InvalidUsage> =>
  JsonText.parse(text).pipe(
    Either.mapLeft(({ path, reason }) => flawed(file, path, withoutExcerpt(reason))),
    Either.filterOrLeft(Predicate.isReadonlyRecord, () => flawed(file, "", "it must be a JSON object")),
    Either.flatMap((value) =>
      Either.mapLeft(Schema.decodeUnknownEither(SettingsFile)(value, { onExcessProperty: "error" }), ({ issue }) => {
        const [first] = ParseResult.ArrayFormatter.formatIssueSync(issue)
        const path = first?.path ?? []
        // The message would show the value.
        const isSecret = path.includes("apiKey") || path.includes("headers")
        return flawed(file, JsonText.showPath(path), isSecret ? "it must be text" : (first?.message ?? issue._tag))
      })
    )
  )

/** Removes the excerpt of the file that a parser's message may have, for it may be a part of a key. */
const withoutExcerpt = (reason: string): string =>
  reason.replace(/, (?:\.\.\.)?"[\s\S]*"(?:\.\.\.)? is not valid JSON/, " is not valid JSON")

const flawed = (file: string, path: string, reason: string): InvalidUsage =>
  new InvalidUsage({
    reason: `${ForeignText.word(file, 300)}: ${path === "" ? "" : `${ForeignText.word(path, 200)}: `}${ForeignText.line(reason, 400)}`
  })

/**
 * Reads the file of a home directory; an absent one is an empty one. On the left is the error that names what is wrong.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (home: string): Either.Either<SettingsFile, InvalidUsage> => {
  const file = pathIn(home)
  return OwnFile.OwnFile.$match(OwnFile.read(file, { most: largest, mayBeLink: true }), {
    Missing: (): Either.Either<SettingsFile, InvalidUsage> => Either.right({ providers: {}, prices: {} }),
    Refused: ({ reason }) => Either.left(flawed(file, "", reason)),
    Content: ({ bytes }) =>
      Either.flatMap(
        Either.try({
          try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
          catch: () => flawed(file, "", "it is not UTF-8")
        }),
        (text) => decode(file, text)
      )
  })
}
