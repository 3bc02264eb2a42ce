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
import * as Attempt from "../../domain/Attempt.js"
import { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as JsonText from "../../domain/JsonText.js"
import * as Similar from "../../domain/Similar.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as OwnFile from "../../extension/mcp/OwnFile.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import type { Endpoint, Kind } from "./internal/Endpoint.js"
import * as Proxy from "./internal/Proxy.js"
import * as Retry from "./internal/Retry.js"
import { ModelProvider, type Price } from "./ModelProvider.js"
import { ModelSettings, type Settings } from "./ModelSettings.js"

const count = Schema.Int.pipe(Schema.positive())
const price = Schema.Number.pipe(Schema.between(0, 1_000_000_000))

const Provider = Schema.Struct({
  kind: Schema.optional(
    Schema.Literal("anthropic", "openai", "compatible").annotations({
      // Without the override, the message would only name the first kind.
      message: () => ({ message: 'it must be "anthropic", "openai" or "compatible"', override: true })
    })
  ).annotations({ description: "its protocol; by default its name's, else `compatible`" }),
  baseUrl: Schema.optional(Schema.NonEmptyString).annotations({ description: "its address" }),
  apiKey: Schema.optional(Schema.Redacted(Schema.NonEmptyString)).annotations({ description: "its key" }),
  apiKeyVariable: Schema.optional(Schema.NonEmptyString).annotations({
    description: "the variable that holds its key"
  }),
  model: Schema.optional(Schema.NonEmptyString).annotations({ description: "its default model" }),
  headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String) })).annotations({
    description: "headers of each request"
  }),
  contextWindow: Schema.optional(count).annotations({ description: "the most tokens of a request" }),
  maxOutput: Schema.optional(count).annotations({ description: "the most tokens of an answer" }),
  images: Schema.optional(Schema.Boolean).annotations({ description: "`false` if its models take no images" })
})

interface Provider extends Schema.Schema.Type<typeof Provider> {}

/**
 * The schema of `settings.json`. Prices are per million tokens; their keys are model names, which may contain `*`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SettingsFile = Schema.Struct({
  /** The JSON Schema that an editor checks the file with. */
  $schema: Schema.optional(Schema.String),
  provider: Schema.optional(Schema.NonEmptyString).annotations({ description: "the default provider" }),
  model: Schema.optional(Schema.NonEmptyString).annotations({ description: "the default model" }),
  providers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Provider }), { default: () => ({}) }),
  prices: Schema.optionalWith(
    Schema.Record({
      key: Schema.String,
      value: Schema.Struct({
        input: Schema.propertySignature(price).annotations({ description: "the price of a million tokens sent" }),
        output: Schema.propertySignature(price).annotations({ description: "the price of a million tokens received" }),
        cached: Schema.optional(price).annotations({
          description: "the price of a million tokens sent that were cached"
        })
      })
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

/** The largest size of the file, in bytes. */
const largest = 1024 ** 2

/** Decodes the file's text. The error names the place but shows no key. */
const decode = (file: string, text: string): Either.Either<SettingsFile, InvalidUsage> =>
  JsonText.parse(text).pipe(
    Either.mapLeft(({ path, reason }) => flawed(file, path, withoutExcerpt(reason))),
    Either.filterOrLeft(Predicate.isReadonlyRecord, () => flawed(file, "", "it must be a JSON object")),
    Either.flatMap((value) =>
      Either.mapLeft(Schema.decodeUnknownEither(SettingsFile)(value, { onExcessProperty: "error" }), ({ issue }) => {
        const [first] = ParseResult.ArrayFormatter.formatIssueSync(issue)
        const path = first?.path ?? []
        // The original message would show the value.
        const isSecret = path.includes("apiKey") || path.includes("headers")
        return flawed(file, JsonText.showPath(path), isSecret ? "it must be text" : (first?.message ?? issue._tag))
      })
    )
  )

/** Removes the excerpt from a parser's message, since it may contain part of a key. */
const withoutExcerpt = (reason: string): string =>
  reason.replace(/, (?:\.\.\.)?"[\s\S]*"(?:\.\.\.)? is not valid JSON/, " is not valid JSON")

const flawed = (file: string, path: string, reason: string): InvalidUsage =>
  new InvalidUsage({
    reason: `${shown(file)}: ${path === "" ? "" : `${UntrustedText.word(path, 200)}: `}${UntrustedText.line(reason, 400)}`
  })

const shown = (file: string): string => UntrustedText.word(file, 300)

/** Reads the file. A missing file counts as empty. */
const read = (file: string): Either.Either<SettingsFile, InvalidUsage> =>
  OwnFile.textOf(OwnFile.read(file, { most: largest, mayBeLink: true })).pipe(
    Either.mapLeft((reason) => flawed(file, "", reason)),
    Either.flatMap((text) => (text === undefined ? Either.right({ providers: {}, prices: {} }) : decode(file, text)))
  )

/** The variables of providers that need no file. There is no default model, because providers retire models. */
const builtIn: Readonly<Record<string, { readonly urlVariable: string; readonly keyVariable: string }>> = {
  anthropic: { urlVariable: "ANTHROPIC_BASE_URL", keyVariable: "ANTHROPIC_API_KEY" },
  openai: { urlVariable: "OPENAI_BASE_URL", keyVariable: "OPENAI_API_KEY" },
  compatible: { urlVariable: "OPENAI_BASE_URL", keyVariable: "OPENAI_API_KEY" }
}

/** The facts about each protocol. `window` is the smallest window of its current models, in tokens. */
const kinds: Readonly<Record<Kind, { readonly baseUrl?: string; readonly window: number }>> = {
  anthropic: { baseUrl: "https://api.anthropic.com", window: 200_000 },
  openai: { baseUrl: "https://api.openai.com/v1", window: 128_000 },
  compatible: { window: 32_768 }
}

/** The windows of models by name, in tokens. */
const windows: ReadonlyArray<readonly [RegExp, number]> = [
  [/claude/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-4o|^gpt-4-turbo/, 128_000],
  [/^gpt-[5-9]/, 400_000],
  [/^o\d/, 200_000]
]

/** Everything that chooses a model. `file` is the path of `settings.json`. */
interface Sources {
  readonly settings: Settings
  readonly content: SettingsFile
  readonly file: string
}

interface Choice {
  readonly provider: string
  readonly model: string
  readonly given: Provider
}

type Failure = ExecutionFailed | InvalidUsage

const wrong = (reason: string): Effect.Effect<never, Failure> => Effect.fail(new InvalidUsage({ reason }))
const missing = (reason: string): Effect.Effect<never, Failure> =>
  Effect.fail(new ExecutionFailed({ kind: "io", reason }))

/** Splits `provider/name`. Model names may contain slashes, so only a known provider is split off. */
const parse = (
  name: string | undefined,
  providers: ReadonlyArray<string>
): Partial<Record<"provider" | "model", string>> => {
  if (name === undefined) return {}
  if (providers.includes(name)) return { provider: name }
  const [start = ""] = name.split("/", 1)
  return providers.includes(start) && name.length > start.length + 1
    ? { provider: start, model: name.slice(start.length + 1) }
    : { model: name }
}

const detect = ({ content, settings }: Sources): string | undefined => {
  if (settings.variable("ANTHROPIC_API_KEY") !== undefined) return "anthropic"
  if (settings.variable("OPENAI_API_KEY") !== undefined) return "openai"
  if (settings.variable("OPENAI_BASE_URL") !== undefined) return "compatible"
  const [only, ...others] = Object.keys(content.providers)
  return others.length === 0 ? only : undefined
}

/** Chooses the model for a name (`name`, `provider` or `provider/name`), or the default one. */
const choose = (sources: Sources, name: string | undefined): Effect.Effect<Choice, Failure> =>
  Effect.suspend(() => {
    const { content, file, settings } = sources
    const providers = [...new Set([...Object.keys(content.providers), ...Object.keys(builtIn)])]
    const asked = parse(name, providers)
    const fromEnv = parse(settings.model, providers)
    const fromFile = parse(content.model, providers)
    const fileProvider = fromFile.provider ?? content.provider
    const usual = fromEnv.provider ?? settings.provider ?? fileProvider ?? detect(sources)
    const provider = asked.provider ?? usual
    if (provider === undefined) {
      const model = asked.model ?? fromEnv.model ?? fromFile.model
      const what =
        model === undefined
          ? "No model is set up. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, and SYNAPSE_MODEL,"
          : `No provider is set up for the model ${UntrustedText.quoted(model, 80)}. Set ANTHROPIC_API_KEY or OPENAI_API_KEY`
      return missing(
        `${what} in the environment, or name a provider in ${shown(file)}: {"provider": "local", "providers": {"local": {"kind": "compatible", "baseUrl": "http://localhost:11434/v1", "model": "…"}}}`
      )
    }
    if (!providers.includes(provider)) {
      const near = Similar.nearest(provider, providers)
      const meant = near === undefined ? "" : ` Did you mean ${near}?`
      return wrong(
        `No provider is named ${UntrustedText.quoted(provider, 80)}.${meant} There are ${providers.join(", ")}; others can be added under "providers" in ${shown(file)}`
      )
    }
    const given = (Object.hasOwn(content.providers, provider) ? content.providers[provider] : undefined) ?? {}
    // The default model belongs to the default provider.
    const isFileModel = fileProvider === undefined || fileProvider === provider
    const usualModel = provider === usual ? (fromEnv.model ?? (isFileModel ? fromFile.model : undefined)) : undefined
    const model = asked.model ?? usualModel ?? given.model
    return model === undefined
      ? missing(
          `No model of the provider ${provider} is named: set SYNAPSE_MODEL to the id of one, as the provider lists them, or providers.${provider}.model in ${shown(file)}`
        )
      : Effect.succeed({ provider, model, given })
  })

/** Looks up a value in a variable, then in the file. `setting` names where it came from, or where to set it. */
const lookUp = <A>(
  { file, settings }: Sources,
  { provider }: Choice,
  variable: string | undefined,
  field: string,
  inFile: A | undefined
) => {
  const fileSetting = `providers.${UntrustedText.word(provider)}.${field} in ${shown(file)}`
  const fromEnv = variable === undefined ? undefined : settings.variable(variable)
  if (variable !== undefined && fromEnv !== undefined) return { value: fromEnv, setting: variable }
  if (inFile !== undefined || variable === undefined) return { value: inFile, setting: fileSetting }
  return { value: undefined, setting: `${variable}, or ${fileSetting}` }
}

/** Makes the endpoint. The error names the setting that is missing or can't be sent. */
const endpointOf = (choice: Choice, sources: Sources): Effect.Effect<Endpoint, Failure> =>
  Effect.gen(function* () {
    const { given, model, provider } = choice
    const known = Object.hasOwn(builtIn, provider) ? builtIn[provider] : undefined
    const kind: Kind = given.kind ?? (known === undefined ? "compatible" : (provider as Kind))
    const address = lookUp(sources, choice, known?.urlVariable, "baseUrl", given.baseUrl)
    const text = Redacted.isRedacted(address.value) ? Redacted.value(address.value) : address.value
    const url = yield* urlOf(text ?? kinds[kind].baseUrl, provider, address.setting)

    const key = lookUp(sources, choice, given.apiKeyVariable ?? known?.keyVariable, "apiKey", given.apiKey)
    if (key.value === undefined && kind !== "compatible") {
      return yield* missing(`There is no key for the provider ${provider}: set ${key.setting}`)
    }
    if (key.value !== undefined && !/^[\x21-\x7e]+$/.test(Redacted.value(key.value))) {
      return yield* wrong(
        `The key of ${key.setting} holds a character that no key has: a space, a line's end, or one that is no ASCII`
      )
    }
    const headers = Object.entries(given.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
    const bad = headers.find(
      ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(Redacted.value(value))
    )
    if (bad !== undefined) {
      const { setting } = lookUp(sources, choice, undefined, "headers", given.headers)
      return yield* wrong(`${setting}: ${UntrustedText.quoted(bad[0], 80)} can't be sent as a header`)
    }
    const basic = basicOf(url)
    if (basic !== undefined && kind !== "anthropic" && key.value !== undefined) {
      return yield* wrong(
        `${address.setting} holds a user's name, and ${key.setting} a key: only one of them can be sent`
      )
    }
    const proxy = yield* Proxy.of(sources.settings.variable, url.protocol === "https:" ? "https:" : "http:")
    return {
      provider,
      kind,
      model,
      key: key.value,
      keySetting: key.setting,
      urlSetting: address.setting,
      baseUrl: baseOf(url, kind),
      headers: { ...(basic === undefined ? {} : { authorization: basic }), ...Object.fromEntries(headers) },
      maxOutput: given.maxOutput,
      timeout: sources.settings.timeout,
      retry: { ...Retry.defaults, retries: sources.settings.retries },
      ...(proxy === undefined ? {} : { proxy })
    }
  })

/** Parses an address. The error does not show it, since it may contain a password. */
const urlOf = (text: string | undefined, provider: string, setting: string): Effect.Effect<URL, Failure> => {
  if (text === undefined) {
    return missing(`The provider ${provider} has no address: set ${setting} to one such as http://localhost:11434/v1`)
  }
  return URL.canParse(text) && /^https?:\/\//i.test(text) && !/[?#]/.test(text)
    ? Effect.succeed(new URL(text))
    : wrong(`${setting} is no address of a server: it must begin with https:// or http://, and have no "?" and no "#"`)
}

/** Returns the address up to the version, without a request's path. */
const baseOf = ({ host, pathname, protocol }: URL, kind: Kind): string => {
  const path = pathname.replace(/\/+$/, "").replace(/\/(?:chat\/completions|responses|messages)$/, "")
  const needsVersion = kind === "anthropic" ? !/\/v\d+$/.test(path) : path === ""
  return `${protocol}//${host}${path}${needsVersion ? "/v1" : ""}`
}

/** Returns the header for a name and password in an address, since `fetch` refuses such addresses. */
const basicOf = ({ password, username }: URL): Redacted.Redacted | undefined =>
  username === "" && password === ""
    ? undefined
    : Redacted.make(`Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`)

const decoded = (text: string): string => Attempt.orElse(() => decodeURIComponent(text), text)

const matches = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replace(/[^\w*]/g, "\\$&").replaceAll("*", ".*")}$`, "s").test(name)

/** Returns a model's price: by its own name, or by the longest matching pattern. */
const priceOf = ({ prices }: SettingsFile, { model, provider }: Choice): Price | undefined => {
  const rank = (pattern: string) => (pattern.includes("*") ? pattern.length : Number.MAX_SAFE_INTEGER)
  const [best] = Object.entries(prices)
    .filter(([pattern]) => [`${provider}/${model}`, model].some((name) => matches(pattern, name)))
    .sort(([a], [b]) => rank(b) - rank(a) || b.length - a.length)
  return best?.[1]
}

/**
 * A layer that reads the file for each request for a model. `@effect/ai` is not loaded before.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ModelProvider, never, ModelSettings | SandboxSettings> = Layer.effect(
  ModelProvider,
  Effect.gen(function* () {
    const settings = yield* ModelSettings
    const { home } = yield* SandboxSettings
    const file = Path.join(home, "settings.json")
    return {
      model: Effect.fn("ModelProvider.model")(function* (name?: string) {
        const sources: Sources = { settings, content: yield* read(file), file }
        const choice = yield* choose(sources, name)
        const endpoint = yield* endpointOf(choice, sources)
        const LiveModel = yield* Effect.promise(() => import("./internal/LiveModel.js"))
        const { given, model, provider } = choice
        const window = windows.find(([name]) => name.test(model))?.[1] ?? kinds[endpoint.kind].window
        return {
          provider,
          name: model,
          languageModel: yield* LiveModel.make(endpoint),
          retry: endpoint.retry,
          contextWindow: given.contextWindow ?? window,
          price: priceOf(sources.content, choice),
          takesImages: given.images ?? true
        }
      })
    }
  })
)
