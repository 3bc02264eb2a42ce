/** The sub-agents of an app: their manager, and the app that each one runs in. */

import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Floor } from "./AppSandbox.js"
import * as AgentTools from "./agent/AgentTools.js"
import * as LiveSubAgentManager from "./agent/LiveSubAgentManager.js"
import type { ModelProvider } from "./agent/model/ModelProvider.js"
import * as ModelSettings from "./agent/model/ModelSettings.js"
import { McpConfig } from "./extension/mcp/McpConfig.js"
import type * as SubAgentManager from "./extension/SubAgentManager.js"
import type { SkillStore } from "./extension/skill/SkillStore.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import { SandboxSettings } from "./sandbox/config/SandboxSettings.js"
import { Permission } from "./sandbox/permission/Permission.js"
import type { SandboxManager } from "./sandbox/SandboxManager.js"
import { SessionSettings } from "./session/SessionSettings.js"

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

/** The dependencies of sub-agents. */
export interface Deps {
  /** Builds an app anew. A read-only one lacks the commands that act outside the sandbox. */
  readonly app: (
    isReadOnly: boolean,
    config: Layer.Layer<McpConfig>
  ) => Effect.Effect<Context.Context<AgentTools.Services>, ConfigError, Floor | Scope.Scope>
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
const appOf = (deps: Deps) =>
  Effect.gen(function* () {
    const mcp = Layer.succeed(McpConfig, yield* McpConfig)
    const { remember } = yield* SandboxConfig.SandboxConfig
    const make: AgentTools.MakeApp = ({ isReadOnly, permission, policy, sandbox, session }) => {
      const config = SandboxConfig.layerMemory(policy === undefined ? {} : { provider: policy.provider }, remember)
      const rules = policy === undefined ? PolicyBuilder.layer : PolicyBuilder.layerFixed(policy.policy)
      return deps
        .app(isReadOnly, mcp)
        .pipe(
          Effect.provide(Layer.provideMerge(rules, config)),
          Effect.provideService(Permission, permission),
          Effect.provideService(SessionSettings, session),
          Effect.provideService(SandboxSettings, sandbox),
          Effect.provide(NodeFileSystem.layer)
        )
    }
    return make
  })

/** Builds the tools of a read-only agent, with the rights of `task:explore`. */
export const reading = (deps: Deps) =>
  Effect.gen(function* () {
    const make = yield* AgentTools.make(yield* appOf(deps))
    const task = { type: "plan", description: "Make a plan" }
    return (yield* make({ cwd: undefined, isReadOnly: true, task })).services
  })

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
        app: yield* appOf(deps),
        isOffered: models !== undefined || (yield* isProviderSet(settings.home)),
        models: async () => models ?? (await liveModels(settings))
      })
    })
  )
}
