/** The settings of the connections to MCP servers. */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Setting from "../../../domain/Setting.js"
import * as Timeout from "../../../domain/Timeout.js"

export interface Settings {
  /** The time that a server may take to start and to answer the first message, in milliseconds. */
  readonly connectTimeout: number
  /** The time that a call may go without an answer and without a word of progress, in milliseconds. */
  readonly timeout: number
}

export const defaults: Settings = { connectTimeout: 30_000, timeout: 120_000 }

export const variables = { connectTimeout: "SYNAPSE_MCP_CONNECT_TIMEOUT", timeout: "SYNAPSE_MCP_TIMEOUT" } as const

/** The settings that connections to MCP servers are made with. */
export class McpSettings extends Context.Tag("synapse/McpSettings")<McpSettings, Settings>() {}

const milliseconds = (variable: string, fallback: number): Config.Config<number> =>
  Setting.wholeNumber(variable, 1).pipe(
    Config.withDefault(fallback),
    Config.map((time) => Math.min(time, Timeout.longest))
  )

/**
 * A layer which reads the settings from the environment (`SYNAPSE_MCP_CONNECT_TIMEOUT`, `SYNAPSE_MCP_TIMEOUT`). Fails
 * where a variable has an invalid value.
 */
export const layerFromEnv: Layer.Layer<McpSettings, ConfigError> = Layer.effect(
  McpSettings,
  Config.all({
    connectTimeout: milliseconds(variables.connectTimeout, defaults.connectTimeout),
    timeout: milliseconds(variables.timeout, defaults.timeout)
  })
)
