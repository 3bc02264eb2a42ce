/**
 * The settings of models from the program or the environment, which override `settings.json`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Setting from "../../domain/Setting.js"
import { UserEnvironment } from "../../domain/UserEnvironment.js"

/**
 * The settings of models.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The name of the provider (`SYNAPSE_PROVIDER`). By default, `settings.json` or an available key decides. */
  readonly provider: string | undefined
  /** The model, as `name` or `provider/name` (`SYNAPSE_MODEL`). */
  readonly model: string | undefined
  /**
   * How long a model may stay silent, in ms (`SYNAPSE_MODEL_TIMEOUT`). The maximum is 300000, because `fetch` waits no
   * longer.
   */
  readonly timeout: number
  /** How often a failed request is retried (`SYNAPSE_MODEL_RETRIES`). */
  readonly retries: number
  /** Returns a non-empty environment variable with a key or an address. */
  readonly variable: (name: string) => Redacted.Redacted | undefined
}

/** How long `fetch` waits, in ms. */
const longest = 300_000

/**
 * The default settings, without any environment variable.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: Settings = {
  provider: undefined,
  model: undefined,
  timeout: longest,
  retries: 7,
  variable: () => undefined
}

/**
 * The environment variable of each setting.
 *
 * @since 0.1.0
 * @category constructors
 */
export const variables = {
  provider: "SYNAPSE_PROVIDER",
  model: "SYNAPSE_MODEL",
  timeout: "SYNAPSE_MODEL_TIMEOUT",
  retries: "SYNAPSE_MODEL_RETRIES"
} as const

/**
 * The settings that models are found by.
 *
 * @since 0.1.0
 * @category tags
 */
export class ModelSettings extends Context.Tag("synapse/ModelSettings")<ModelSettings, Settings>() {}

/**
 * Makes the function `variable` from environment variables.
 *
 * @since 0.1.0
 * @category constructors
 */
export const variablesOf =
  (environment: Readonly<Record<string, string | undefined>>): Settings["variable"] =>
  (name) => {
    // A key read from a file often ends with a newline.
    const value = (Object.hasOwn(environment, name) ? environment[name] : undefined)?.trim() ?? ""
    return value === "" ? undefined : Redacted.make(value)
  }

/**
 * A layer of the given settings and the defaults, without the environment. Dies if a setting is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<ModelSettings> =>
  Layer.orDie(
    Layer.effect(
      ModelSettings,
      Effect.suspend(() => checked({ ...defaults, ...settings }))
    )
  )

const word = (name: string) =>
  Config.string(name).pipe(
    Config.map((value) => (value.trim() === "" ? undefined : value.trim())),
    Config.withDefault(undefined)
  )

/**
 * A layer of the settings from the environment. Fails if a variable is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv: Layer.Layer<ModelSettings, ConfigError.ConfigError> = Layer.effect(
  ModelSettings,
  Config.all({
    provider: word(variables.provider),
    model: word(variables.model),
    timeout: Setting.wholeNumber(variables.timeout, 1).pipe(Config.withDefault(defaults.timeout)),
    retries: Setting.wholeNumber(variables.retries, 0).pipe(Config.withDefault(defaults.retries))
  }).pipe(
    Effect.zip(UserEnvironment),
    Effect.flatMap(([fromEnv, origin]) =>
      bounded({ ...fromEnv, variable: variablesOf({ ...origin.variables }) }, variables.timeout)
    )
  )
)

function bounded(settings: Settings, name: string): Either.Either<Settings, ConfigError.ConfigError> {
  return settings.timeout > longest
    ? Either.left(ConfigError.InvalidData([], `${name}=${settings.timeout}: must be at most ${longest}`))
    : Either.right(settings)
}

const checked = (settings: Settings): Either.Either<Settings, ConfigError.ConfigError> =>
  Either.flatMap(
    Either.all([
      Setting.checkWholeNumber("timeout", settings.timeout, 1),
      Setting.checkWholeNumber("retries", settings.retries, 0)
    ]),
    () => bounded(settings, "timeout")
  )
