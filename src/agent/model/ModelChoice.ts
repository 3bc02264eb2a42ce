/**
 * Chooses a provider and a model, by name, by the environment, by `settings.json`, or by the key that is there.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import type { Kind } from "./Endpoint.js"
import type { Settings } from "./ModelSettings.js"
import type { Provider, SettingsFile } from "./SettingsFile.js"

/**
 * A provider that is known without a file. It has no default model: providers retire theirs within a year or two.
 *
 * @since 0.1.0
 * @category models
 */
export interface BuiltIn {
  readonly kind: Kind
  readonly baseUrl: string | undefined
  readonly urlVariable: string
  readonly keyVariable: string
}

/**
 * The providers that are known without a file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const builtIn: Readonly<Record<string, BuiltIn>> = {
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

/**
 * A provider and a model of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ModelChoice {
  readonly provider: string
  readonly model: string
  readonly known: BuiltIn | undefined
  readonly settings: Provider
}

/**
 * The settings that a model is chosen by; `file` is the path of `settings.json`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sources {
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

/**
 * Chooses the model of a name (`name`, `provider` or `provider/name`), or the default one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (sources: Sources, name?: string): Either.Either<ModelChoice, ExecutionFailed | InvalidUsage> => {
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
