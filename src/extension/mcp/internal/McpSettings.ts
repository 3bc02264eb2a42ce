import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Setting from "../../../domain/Setting.js"
import * as Timeout from "../../../domain/Timeout.js"

export interface Settings {
  /** How long a server may take to start and answer the first message, in milliseconds. */
  readonly connectTimeout: number
  /** How long a call may go without an answer or progress, in milliseconds. */
  readonly timeout: number
}

export const defaults: Settings = { connectTimeout: 30_000, timeout: 120_000 }

export const variables = { connectTimeout: "SYNAPSE_MCP_CONNECT_TIMEOUT", timeout: "SYNAPSE_MCP_TIMEOUT" } as const

export class McpSettings extends Context.Tag("synapse/McpSettings")<McpSettings, Settings>() {}

const milliseconds = (variable: string, fallback: number): Config.Config<number> =>
  Setting.wholeNumber(variable, 1).pipe(
    Config.withDefault(fallback),
    Config.map((time) => Math.min(time, Timeout.longest))
  )

/**
 * A layer with settings from the environment (`SYNAPSE_MCP_CONNECT_TIMEOUT`, `SYNAPSE_MCP_TIMEOUT`). Fails if a
 * variable is invalid.
 */
export const layerFromEnv: Layer.Layer<McpSettings, ConfigError> = Layer.effect(
  McpSettings,
  Config.all({
    connectTimeout: milliseconds(variables.connectTimeout, defaults.connectTimeout),
    timeout: milliseconds(variables.timeout, defaults.timeout)
  })
)
