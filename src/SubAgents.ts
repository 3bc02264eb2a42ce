/** The sub-agents of an app: their manager, and the app that each one runs in. */

import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AgentTools from "./agent/AgentTools.js"
import * as LiveSubAgentManager from "./agent/LiveSubAgentManager.js"
import type { ModelProvider } from "./agent/model/ModelProvider.js"
import * as ModelSettings from "./agent/model/ModelSettings.js"
import * as Bridge from "./bridge/Bridge.js"
import * as CommandRegistry from "./command/CommandRegistry.js"
import type { CommandError } from "./domain/CommandError.js"
import * as LiveMcpClient from "./extension/mcp/LiveMcpClient.js"
import * as McpClient from "./extension/mcp/McpClient.js"
import { McpConfig } from "./extension/mcp/McpConfig.js"
import * as SubAgentManager from "./extension/SubAgentManager.js"
import * as LocalSkillStore from "./extension/skill/LocalSkillStore.js"
import type { SkillStore } from "./extension/skill/SkillStore.js"
import type { Extensions, Tools } from "./Synapse.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import { SandboxSettings } from "./sandbox/config/SandboxSettings.js"
import { Permission } from "./sandbox/permission/Permission.js"
import type { SandboxManager } from "./sandbox/SandboxManager.js"
import type { SessionJobs } from "./session/JobTable.js"
import { SessionSettings } from "./session/SessionSettings.js"
import type { ShellBridge } from "./session/ShellBridge.js"

const variables = [
  ModelSettings.variables.provider,
  ModelSettings.variables.model,
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY"
]

const isSet = (name: string): Effect.Effect<boolean> =>
  Effect.match(Config.nonEmptyString(name), { onFailure: () => false, onSuccess: () => true })

/** Tests whether a model provider is set up: by a variable, or by an existing `settings.json`. It loads no provider. */
const isProviderSet = (home: string): Effect.Effect<boolean> =>
  Effect.map(Effect.forEach(variables, isSet), (set) => set.includes(true) || Fs.existsSync(`${home}/settings.json`))

/** The dependencies of a sub-agent's app. Each app builds them again. */
export interface Deps {
  /** The tools. A read-only app lacks the commands that act outside the sandbox. */
  readonly tools: (isReadOnly: boolean) => Layer.Layer<Tools, ConfigError, SandboxManager | SessionJobs | Extensions>
  readonly sandbox: Layer.Layer<
    SandboxManager | SessionJobs,
    never,
    | Permission
    | PolicyBuilder.PolicyBuilder
    | SandboxConfig.SandboxConfig
    | SandboxSettings
    | SessionSettings
    | ShellBridge
  >
  /** Replaces the models of the settings and the environment. */
  readonly models: Layer.Layer<ModelProvider, ConfigError> | undefined
}

/**
 * Builds a sub-agent's app. Its sandbox reads no configuration and enforces the given policy. Paths that a person
 * allows are remembered where the parent's are.
 *
 * It may start the MCP servers that its parent may start. A read-only sub-agent may start none, because servers run
 * outside the sandbox.
 */
const appOf =
  (
    { sandbox, tools }: Deps,
    config: McpConfig["Type"],
    { remember }: SandboxConfig.SandboxConfig["Type"]
  ): AgentTools.MakeApp =>
  ({ isReadOnly, permission, policy, sandbox: settings, session }) => {
    const mcp = isReadOnly
      ? McpClient.layerNone
      : Layer.provide(LiveMcpClient.layerFromEnv, Layer.succeed(McpConfig, config))
    const app = tools(isReadOnly).pipe(
      Layer.provideMerge(Layer.mergeAll(mcp, LocalSkillStore.layer, SubAgentManager.layerNested, sandbox)),
      Layer.provide(policy === undefined ? PolicyBuilder.layer : PolicyBuilder.layerFixed(policy.policy)),
      Layer.provide(SandboxConfig.layerMemory(policy === undefined ? {} : { provider: policy.provider }, remember)),
      Layer.provide(Layer.succeed(Permission, permission)),
      Layer.provide(Bridge.layer),
      Layer.provide(CommandRegistry.layer),
      Layer.provide(Layer.succeed(SessionSettings, session)),
      Layer.provide(Layer.succeed(SandboxSettings, settings)),
      Layer.provide(NodeFileSystem.layer)
    )
    return Layer.scopedContext(Layer.build(app))
  }

/** A layer of the tools of a read-only agent, with the rights of `task:explore`. */
export const layerReading = (
  deps: Deps
): Layer.Layer<
  AgentTools.Services,
  CommandError,
  McpConfig | Permission | SandboxConfig.SandboxConfig | SandboxManager | SandboxSettings | SessionSettings
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const make = yield* AgentTools.make(appOf(deps, yield* McpConfig, yield* SandboxConfig.SandboxConfig))
      const task = { type: "plan", description: "Make a plan" }
      return (yield* make({ cwd: undefined, isReadOnly: true, task })).services
    })
  )

const liveModels = async (settings: SandboxSettings["Type"]): Promise<Layer.Layer<ModelProvider, ConfigError>> => {
  const [{ layer }, { layerFromEnv }] = await Promise.all([
    import("./agent/model/LiveModelProvider.js"),
    import("./agent/model/ModelSettings.js")
  ])
  return layer.pipe(Layer.provide(layerFromEnv), Layer.provide(Layer.succeed(SandboxSettings, settings)))
}

/** A layer that runs sub-agents. It loads the models and the loop with the first task. */
export const layer = (
  deps: Deps
): Layer.Layer<
  SubAgentManager.SubAgentManager,
  never,
  McpConfig | Permission | SandboxConfig.SandboxConfig | SandboxManager | SandboxSettings | SessionSettings | SkillStore
> => {
  const { models } = deps
  return Layer.unwrapEffect(
    Effect.gen(function* () {
      const settings = yield* SandboxSettings
      return LiveSubAgentManager.layer({
        app: appOf(deps, yield* McpConfig, yield* SandboxConfig.SandboxConfig),
        isOffered: models !== undefined || (yield* isProviderSet(settings.home)),
        models: async () => models ?? (await liveModels(settings))
      })
    })
  )
}
