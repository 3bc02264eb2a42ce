/**
 * Finds models by `$SYNAPSE_HOME/settings.json` and the environment.
 *
 * @since 0.1.0
 */

import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as JsonText from "../../domain/JsonText.js"
import * as Similar from "../../domain/Similar.js"
import * as OwnFile from "../../extension/mcp/OwnFile.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import type { Endpoint, Kind } from "./internal/Endpoint.js"
import * as Proxy from "./internal/Proxy.js"
import * as Retry from "./internal/Retry.js"
import { type Model, ModelProvider, type Price } from "./ModelProvider.js"
import { ModelSettings, type Settings } from "./ModelSettings.js"

const count = Schema.Int.pipe(Schema.positive())
const price = Schema.Number.pipe(Schema.between(0, 1_000_000_000))

/** The schema of a provider. */
const Provider = Schema.Struct({
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

/** A provider. */
interface Provider extends Schema.Schema.Type<typeof Provider> {}

/**
 * The schema of `settings.json`. Prices are per million tokens; their names are those of models, and may hold `*`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SettingsFile = Schema.Struct({
  /** The JSON Schema that an editor checks the file by. */
  $schema: Schema.optional(Schema.String),
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

/** Returns the path of the file. */
const pathIn = (home: string): string => Path.join(home, "settings.json")

/**
 * Decodes the text of a file; on the left is the error, which names the file, the place and what is right there. It shows
 * no key.
 */
const decode = (file: string, text: string): Either.Either<SettingsFile, InvalidUsage> =>
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
 */
const read = (home: string): Either.Either<SettingsFile, InvalidUsage> => {
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

/** A provider that is known without a file. It has no default model: providers retire theirs within a year or two. */
interface BuiltIn {
  readonly kind: Kind
  readonly baseUrl: string | undefined
  readonly urlVariable: string
  readonly keyVariable: string
}

/** The providers that are known without a file. */
const builtIn: Readonly<Record<string, BuiltIn>> = {
  anthropic: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com",
    urlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: "ANTHROPIC_API_KEY"
  },
  openai: {
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    urlVariable: "OPENAI_BASE_URL",
    keyVariable: "OPENAI_API_KEY"
  },
  compatible: {
    kind: "compatible",
    baseUrl: undefined,
    urlVariable: "OPENAI_BASE_URL",
    keyVariable: "OPENAI_API_KEY"
  }
}

/** A provider and a model of it. */
interface ModelChoiceValue {
  readonly provider: string
  readonly model: string
  readonly known: BuiltIn | undefined
  readonly settings: Provider
}

/** The settings that a model is chosen by; `file` is the path of `settings.json`. */
interface Sources {
  readonly settings: Settings
  readonly content: SettingsFile
  readonly file: string
}

interface Named {
  readonly provider: string | undefined
  readonly model: string | undefined
}

/** A name of a model may hold slashes itself: only the name of a provider before the first one counts as such. */
const parse = (name: string | undefined, providers: ReadonlyArray<string>): Named => {
  if (name === undefined) return { provider: undefined, model: undefined }
  if (providers.includes(name)) return { provider: name, model: undefined }
  const [start = ""] = name.split("/", 1)
  return providers.includes(start) && name.length > start.length + 1
    ? { provider: start, model: name.slice(start.length + 1) }
    : { provider: undefined, model: name }
}

const detect = ({ content, settings }: Sources): string | undefined => {
  if (settings.variable("ANTHROPIC_API_KEY") !== undefined) return "anthropic"
  if (settings.variable("OPENAI_API_KEY") !== undefined) return "openai"
  if (settings.variable("OPENAI_BASE_URL") !== undefined) return "compatible"
  const [only, ...others] = Object.keys(content.providers)
  return others.length === 0 ? only : undefined
}

/** Chooses the model of a name (`name`, `provider` or `provider/name`), or the default one. */
const makeModelChoice = (
  sources: Sources,
  name?: string
): Either.Either<ModelChoiceValue, ExecutionFailed | InvalidUsage> => {
  const { content, file, settings } = sources
  const providers = [...new Set([...Object.keys(content.providers), ...Object.keys(builtIn)])]
  const asked = parse(name, providers)
  const fromEnv = parse(settings.model, providers)
  const fromFile = parse(content.model, providers)

  const envProvider = fromEnv.provider ?? settings.provider
  const fileProvider = fromFile.provider ?? content.provider
  const usual = envProvider ?? fileProvider ?? detect(sources)
  const provider = asked.provider ?? usual
  if (provider === undefined) {
    const model = asked.model ?? fromEnv.model ?? fromFile.model
    const missing =
      model === undefined
        ? "No model is set up. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, and SYNAPSE_MODEL,"
        : `No provider is set up for the model ${ForeignText.quoted(model, 80)}. Set ANTHROPIC_API_KEY or OPENAI_API_KEY`
    return Either.left(
      new ExecutionFailed({
        kind: "io",
        reason: `${missing} in the environment, or name a provider in ${shown(file)}: {"provider": "local", "providers": {"local": {"kind": "compatible", "baseUrl": "http://localhost:11434/v1", "model": "…"}}}`
      })
    )
  }
  if (!providers.includes(provider)) return Either.left(unknown(provider, providers, file))
  const given = Object.hasOwn(content.providers, provider) ? content.providers[provider] : undefined
  const known = Object.hasOwn(builtIn, provider) ? builtIn[provider] : undefined
  // The default model is one of the default provider only.
  const usualModel =
    provider === usual
      ? (fromEnv.model ?? (fileProvider === undefined || fileProvider === provider ? fromFile.model : undefined))
      : undefined
  const model = asked.model ?? usualModel ?? given?.model
  return model === undefined
    ? Either.left(
        new ExecutionFailed({
          kind: "io",
          reason: `No model of the provider ${provider} is named: set SYNAPSE_MODEL to the id of one, as the provider lists them, or providers.${provider}.model in ${shown(file)}`
        })
      )
    : Either.right({ provider, model, known, settings: given ?? {} })
}

const shown = (file: string): string => ForeignText.word(file, 300)

const unknown = (provider: string, providers: ReadonlyArray<string>, file: string): InvalidUsage => {
  const near = Similar.nearest(provider, providers)
  const meant = near === undefined ? "" : ` Did you mean ${near}?`
  return new InvalidUsage({
    reason: `No provider is named ${ForeignText.quoted(provider, 80)}.${meant} There are ${providers.join(", ")}; others can be added under "providers" in ${shown(file)}`
  })
}

type Failure = ExecutionFailed | InvalidUsage

/**
 * Makes the endpoint. Fails where there is no key or no address, or where they can't be sent; the reason names the
 * setting.
 */
const make = (choice: ModelChoiceValue, sources: Sources): Either.Either<Endpoint, Failure> =>
  Either.gen(function* () {
    const { known, model, provider, settings } = choice
    const kind: Kind = settings.kind ?? known?.kind ?? "compatible"
    const { setting: urlSetting, url } = yield* addressOf(choice, sources, kind)
    const { key, setting: keySetting } = yield* keyOf(choice, sources, kind)
    const headers = yield* headersOf(choice, sources)
    const basic = basicOf(url)
    if (basic !== undefined && kind !== "anthropic" && key !== undefined) {
      return yield* wrong(`${urlSetting} holds a user's name, and ${keySetting} a key: only one of them can be sent`)
    }
    const proxy = yield* Proxy.of(sources.settings.variable, url.protocol === "https:" ? "https:" : "http:")
    return {
      provider,
      kind,
      model,
      key,
      keySetting,
      urlSetting,
      baseUrl: baseOf(url, kind),
      headers: { ...(basic === undefined ? {} : { authorization: basic }), ...headers },
      maxOutput: settings.maxOutput,
      isStreaming: settings.stream ?? true,
      timeout: sources.settings.timeout,
      retry: { ...Retry.defaults, retries: sources.settings.retries },
      ...(proxy === undefined ? {} : { proxy })
    }
  })

const wrong = (reason: string): Either.Either<never, InvalidUsage> => Either.left(new InvalidUsage({ reason }))

const missing = (reason: string): Either.Either<never, ExecutionFailed> =>
  Either.left(new ExecutionFailed({ kind: "io", reason }))

const settingIn = ({ file }: Sources, { provider }: ModelChoiceValue, name: string): string =>
  `providers.${ForeignText.word(provider)}.${name} in ${ForeignText.word(file, 300)}`

const addressOf = (choice: ModelChoiceValue, sources: Sources, kind: Kind) => {
  const { known, settings } = choice
  const inFile = settingIn(sources, choice, "baseUrl")
  const either = known === undefined ? inFile : `${known.urlVariable}, or ${inFile}`
  const fromEnv = known === undefined ? undefined : sources.settings.variable(known.urlVariable)
  const text = fromEnv === undefined ? (settings.baseUrl ?? known?.baseUrl) : Redacted.value(fromEnv)
  const usual =
    kind === "anthropic" ? "https://api.anthropic.com" : kind === "openai" ? "https://api.openai.com/v1" : undefined
  const given = text ?? usual
  if (given === undefined) {
    return missing(
      `The provider ${choice.provider} has no address: set ${either} to one such as http://localhost:11434/v1`
    )
  }
  const setting =
    fromEnv !== undefined && known !== undefined ? known.urlVariable : settings.baseUrl === undefined ? either : inFile
  // The address is not shown, for it may hold a password.
  const invalid = wrong(
    `${setting} is no address of a server: it must begin with https:// or http://, and have no "?" and no "#"`
  )
  return URL.canParse(given) && /^https?:\/\//i.test(given) && !/[?#]/.test(given)
    ? Either.right({ url: new URL(given), setting })
    : invalid
}

/** Returns the address up to the version, which the paths of requests stand behind. */
const baseOf = ({ host, pathname, protocol }: URL, kind: Kind): string => {
  const path = pathname.replace(/\/+$/, "").replace(/\/(?:chat\/completions|responses|messages)$/, "")
  const needsVersion = kind === "anthropic" ? !/\/v\d+$/.test(path) : path === ""
  return `${protocol}//${host}${path}${needsVersion ? "/v1" : ""}`
}

/** Returns the header for a user's name and password in an address, which `fetch` refuses there. */
const basicOf = ({ password, username }: URL): Redacted.Redacted | undefined =>
  username === "" && password === ""
    ? undefined
    : Redacted.make(`Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const keyOf = (choice: ModelChoiceValue, sources: Sources, kind: Kind) => {
  const { known, provider, settings } = choice
  const variable = settings.apiKeyVariable ?? known?.keyVariable
  const inFile = settingIn(sources, choice, "apiKey")
  const either = variable === undefined ? inFile : `${variable}, or ${inFile}`
  const fromEnv = variable === undefined ? undefined : sources.settings.variable(variable)
  const key = fromEnv ?? settings.apiKey
  if (key === undefined) {
    return kind === "compatible"
      ? Either.right({ key, setting: either })
      : missing(`There is no key for the provider ${provider}: set ${either}`)
  }
  const setting = fromEnv === undefined || variable === undefined ? inFile : variable
  return isSendable(Redacted.value(key))
    ? Either.right({ key, setting })
    : wrong(`The key of ${setting} holds a character that no key has: a space, a line's end, or one that is no ASCII`)
}

const isSendable = (key: string): boolean => /^[\x21-\x7e]+$/.test(key)

const headersOf = (choice: ModelChoiceValue, sources: Sources) => {
  const headers = choice.settings.headers ?? {}
  const bad = Object.entries(headers).find(
    ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(Redacted.value(value))
  )
  return bad === undefined
    ? Either.right(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])))
    : wrong(`${settingIn(sources, choice, "headers")}: ${ForeignText.quoted(bad[0], 80)} can't be sent as a header`)
}

/** The windows of models by the beginning of their name, in tokens. */
const windows: ReadonlyArray<readonly [RegExp, number]> = [
  [/claude/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-4o|^gpt-4-turbo/, 128_000],
  [/^gpt-[5-9]/, 400_000],
  [/^o\d/, 200_000]
]

/** The windows of models that are not known: what their protocol's models have at least, as far as that is known. */
const usual: Readonly<Record<Kind, number>> = { anthropic: 200_000, openai: 128_000, compatible: 32_768 }

/** Returns the window of a model where the settings don't tell it, in tokens. */
const windowOf = (kind: Kind, model: string): number => windows.find(([name]) => name.test(model))?.[1] ?? usual[kind]

/** Tests whether a name has the parts of a pattern between its stars, in their order. */
const matches = (pattern: string, name: string): boolean => {
  const [start = "", ...rest] = pattern.split("*")
  const end = rest.pop()
  if (end === undefined) return name === pattern
  if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false
  let at = start.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - end.length
}

/**
 * Returns the price of a model: that of its own name, or of the longest pattern that matches `name` or `provider/name`.
 */
const priceOf = (
  prices: Readonly<
    Record<string, { readonly input: number; readonly output: number; readonly cached?: number | undefined }>
  >,
  provider: string,
  model: string
): Price | undefined => {
  const names = [`${provider}/${model}`, model]
  const rank = (pattern: string) => (pattern.includes("*") ? pattern.length : Number.MAX_SAFE_INTEGER)
  const [best] = Object.entries(prices)
    .filter(([pattern]) => names.some((name) => matches(pattern, name)))
    .sort(([a], [b]) => rank(b) - rank(a) || b.length - a.length)
  if (best === undefined) return undefined
  const { cached, input, output } = best[1]
  return { input, output, ...(cached === undefined ? {} : { cached }) }
}

/**
 * A layer which reads the file each time that a model is asked for. Nothing of `@effect/ai` is loaded before.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ModelProvider, never, ModelSettings | SandboxSettings> = Layer.effect(
  ModelProvider,
  Effect.gen(function* () {
    const settings = yield* ModelSettings
    const { home } = yield* SandboxSettings
    const file = pathIn(home)
    const found = (name: string | undefined) =>
      Either.gen(function* () {
        const content = yield* read(home)
        const sources: Sources = { settings, content, file }
        const choice = yield* makeModelChoice(sources, name)
        return { choice, content, endpoint: yield* make(choice, sources) }
      })
    return {
      model: Effect.fn("ModelProvider.model")(function* (name?: string) {
        const { choice, content, endpoint } = yield* found(name)
        const LiveModel = yield* Effect.promise(() => import("./internal/LiveModel.js"))
        const model: Model = {
          provider: choice.provider,
          name: choice.model,
          languageModel: yield* LiveModel.make(endpoint),
          retry: endpoint.retry,
          contextWindow: choice.settings.contextWindow ?? windowOf(endpoint.kind, choice.model),
          price: priceOf(content.prices, choice.provider, choice.model),
          takesImages: choice.settings.images ?? true
        }
        return model
      })
    }
  })
)
