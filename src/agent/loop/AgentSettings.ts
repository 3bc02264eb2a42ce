/**
 * The settings of agents.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Setting from "../../domain/Setting.js"

/**
 * The settings of agents.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The most requests of a run to its model (`SYNAPSE_MAX_TOOL_ITERATIONS`). */
  readonly maxTurns: number
  /** The most `task:*` calls of one turn that run at the same time (`SYNAPSE_MAX_PARALLEL_TASKS`). */
  readonly maxParallelTasks: number
}

/**
 * The default settings.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: Settings = { maxTurns: 50, maxParallelTasks: 5 }

/**
 * The environment variable of each setting.
 *
 * @since 0.1.0
 * @category constructors
 */
export const variables = {
  maxTurns: "SYNAPSE_MAX_TOOL_ITERATIONS",
  maxParallelTasks: "SYNAPSE_MAX_PARALLEL_TASKS"
} as const

/**
 * The settings that agents run with.
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentSettings extends Context.Tag("synapse/AgentSettings")<AgentSettings, Settings>() {}

/**
 * A layer of the given settings and the defaults, without the environment. Dies if a setting is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<AgentSettings> =>
  Layer.orDie(
    Layer.effect(
      AgentSettings,
      Effect.suspend(() => checked({ ...defaults, ...settings }))
    )
  )

const setting = (name: keyof Settings) =>
  Setting.wholeNumber(variables[name], 1).pipe(Config.withDefault(defaults[name]))

/**
 * A layer of the settings from the environment (`SYNAPSE_MAX_TOOL_ITERATIONS`, `SYNAPSE_MAX_PARALLEL_TASKS`). Fails if
 * a variable is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv: Layer.Layer<AgentSettings, ConfigError> = Layer.effect(
  AgentSettings,
  Config.all({ maxTurns: setting("maxTurns"), maxParallelTasks: setting("maxParallelTasks") })
)

const checked = (settings: Settings): Either.Either<Settings, ConfigError> =>
  Either.map(
    Either.all([
      Setting.checkWholeNumber("maxTurns", settings.maxTurns, 1),
      Setting.checkWholeNumber("maxParallelTasks", settings.maxParallelTasks, 1)
    ]),
    () => settings
  )
