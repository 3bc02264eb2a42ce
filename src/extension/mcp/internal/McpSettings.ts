/** The settings of the connections to MCP servers. */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Setting from "../../../domain/Setting.js"
import * as Timeout from "../../../domain/Timeout.js"

/** The settings of the connections to MCP servers. */
export interface Settings {
  /** The time that a server may take to start and to answer the first message, in milliseconds. */
  readonly connectTimeout: number
  /** The time that a call may go without an answer and without a word of progress, in milliseconds. */
  readonly timeout: number
}

/** The default settings. */
export const defaults: Settings = { connectTimeout: 30_000, timeout: 120_000 }

/** The variable of each setting. */
export const variables = { connectTimeout: "SYNAPSE_MCP_CONNECT_TIMEOUT", timeout: "SYNAPSE_MCP_TIMEOUT" } as const

/** The settings that connections to MCP servers are made with. */
export class McpSettings extends Context.Tag("synapse/McpSettings")<McpSettings, Settings>() {}

/**
 * A layer of the given settings and the defaults; it does not read the environment. Dies where a setting is invalid.
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<McpSettings> =>
  Layer.orDie(
    Layer.effect(
      McpSettings,
      Effect.suspend(() => checked({ ...defaults, ...settings }))
    )
  )

/**
 * A layer which reads the settings from the environment (`SYNAPSE_MCP_CONNECT_TIMEOUT`, `SYNAPSE_MCP_TIMEOUT`). Fails
 * where a variable has an invalid value.
 */
export const layerFromEnv: Layer.Layer<McpSettings, ConfigError> = Layer.effect(
  McpSettings,
  Effect.map(
    Config.all({
      connectTimeout: Setting.wholeNumber(variables.connectTimeout, 1).pipe(
        Config.withDefault(defaults.connectTimeout)
      ),
      timeout: Setting.wholeNumber(variables.timeout, 1).pipe(Config.withDefault(defaults.timeout))
    }),
    bounded
  )
)

function bounded(settings: Settings): Settings {
  return {
    connectTimeout: Math.min(settings.connectTimeout, Timeout.longest),
    timeout: Math.min(settings.timeout, Timeout.longest)
  }
}

const checked = (settings: Settings): Either.Either<Settings, ConfigError> =>
  Either.map(
    Either.all([
      Setting.checkWholeNumber("connectTimeout", settings.connectTimeout, 1),
      Setting.checkWholeNumber("timeout", settings.timeout, 1)
    ]),
    () => bounded(settings)
  )
