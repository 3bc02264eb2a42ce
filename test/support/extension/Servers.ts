/** The servers of a directory and a home, as sessions see them. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FileMcpConfig from "../../../src/extension/mcp/FileMcpConfig.js"
import { McpConfig, type McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../../../src/sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as SessionSettings from "../../../src/session/SessionSettings.js"

export interface Where extends Partial<SandboxSettings.Settings> {
  readonly cwd: string
  readonly home: string
}

const layers = ({ cwd, ...settings }: Where) =>
  Layer.mergeAll(FileMcpConfig.layer, FileMcpConfig.layerReading).pipe(
    Layer.provide(PolicyBuilder.layer),
    Layer.provide(SandboxConfig.layer),
    Layer.provide(SessionSettings.layer({ cwd })),
    Layer.provide(SandboxSettings.layer(settings)),
    Layer.provide(NodeFileSystem.layer)
  )

/** The service as it lives in a session, and what the command line reads. */
export const open = (where: Where) =>
  Effect.map(Layer.build(layers(where)), (context) => ({
    config: Context.get(context, McpConfig),
    reading: Context.get(context, FileMcpConfig.McpReading)
  }))

/** By name: `ready`, or the reason and the problem. */
export const states = (entries: ReadonlyArray<McpEntry>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    entries.map((entry) => [
      entry.server.name,
      entry._tag === "Unusable" ? `${entry.reason}: ${entry.problem}` : "ready"
    ])
  )
