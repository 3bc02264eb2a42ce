/** The settings of the tool's description. */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The settings of the tool's description. */
export interface Settings {
  /**
   * True to describe the commands of MCP servers and skills in a line each, as far as 2,000 bytes go
   * (`SYNAPSE_DESCRIBE_EXTENSIONS`); otherwise the description only tells how to find them.
   */
  readonly describeExtensions: boolean
}

/** The default settings. */
export const defaults: Settings = { describeExtensions: false }

/** The settings that the tool is described with; the defaults where none are provided. */
export class DescriptionSettings extends Context.Reference<DescriptionSettings>()("synapse/DescriptionSettings", {
  defaultValue: () => defaults
}) {}

/**
 * A layer which reads the settings from the environment; `overrides` take precedence. Fails where a variable has an
 * invalid value.
 */
export const layerFromEnv = (overrides: Partial<Settings> = {}): Layer.Layer<never, ConfigError> =>
  Layer.effect(
    DescriptionSettings,
    Effect.map(
      Config.all({
        describeExtensions: Config.boolean("SYNAPSE_DESCRIBE_EXTENSIONS").pipe(
          Config.withDefault(defaults.describeExtensions)
        )
      }),
      (fromEnv) => ({ ...fromEnv, ...overrides })
    )
  )
