/**
 * The whole of Synapse as one layer, called an app: every service that a tool call passes through, from the toolset
 * down to the shell.
 *
 * @since 0.1.0
 */

import type { Teardown } from "@effect/platform/Runtime"
import * as Cause from "effect/Cause"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as AppSandbox from "./AppSandbox.js"
import type * as AgentTools from "./agent/AgentTools.js"
import type { ModelProvider } from "./agent/model/ModelProvider.js"
import * as Bridge from "./bridge/Bridge.js"
import type { Handler } from "./command/CommandHandler.js"
import * as CommandRegistry from "./command/CommandRegistry.js"
import * as Bash from "./commands/bash/Bash.js"
import * as Edit from "./commands/edit/Edit.js"
import * as Job from "./commands/job/Job.js"
import * as JobTerminal from "./commands/job/JobTerminal.js"
import * as Mcp from "./commands/mcp/Mcp.js"
import * as Read from "./commands/read/Read.js"
import * as Search from "./commands/search/Search.js"
import * as Skill from "./commands/skill/Skill.js"
import * as Task from "./commands/task/Task.js"
import * as TodoWrite from "./commands/todo/TodoWrite.js"
import * as Write from "./commands/write/Write.js"
import type { CommandError } from "./domain/CommandError.js"
import type { DuplicateName } from "./domain/DuplicateName.js"
import * as ExitCode from "./domain/ExitCode.js"
import * as FileMcpConfig from "./extension/mcp/FileMcpConfig.js"
import * as LiveMcpClient from "./extension/mcp/LiveMcpClient.js"
import * as McpClient from "./extension/mcp/McpClient.js"
import { McpConfig } from "./extension/mcp/McpConfig.js"
import * as SubAgentManager from "./extension/SubAgentManager.js"
import * as LocalSkillStore from "./extension/skill/LocalSkillStore.js"
import type * as SkillStore from "./extension/skill/SkillStore.js"
import * as TodoStore from "./extension/TodoStore.js"
import * as BashRouter from "./router/BashRouter.js"
import * as SubAgents from "./SubAgents.js"
import type * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import type * as Permission from "./sandbox/permission/Permission.js"
import type * as SandboxPlatform from "./sandbox/platform/SandboxPlatform.js"
import type * as SandboxManager from "./sandbox/SandboxManager.js"
import type * as SandboxProvider from "./sandbox/SandboxProvider.js"
import * as Jobs from "./session/Jobs.js"
import type * as JobTable from "./session/JobTable.js"
import type * as SessionSettings from "./session/SessionSettings.js"
import { ShellBridge } from "./session/ShellBridge.js"
import * as BashTool from "./toolset/BashTool.js"
import * as Description from "./toolset/Description.js"
import * as Toolset from "./toolset/Toolset.js"

/**
 * The services above the shell.
 *
 * @since 0.1.0
 * @category models
 */
export type Tools =
  | Toolset.Toolset
  | BashTool.BashTool
  | BashRouter.BashRouter
  | CommandRegistry.CommandRegistry
  | Jobs.Jobs
  | TodoStore.TodoStore

/**
 * The services that talk to MCP servers, find skills and run sub-agents.
 *
 * @since 0.1.0
 * @category models
 */
export type Extensions = McpClient.McpClient | SkillStore.SkillStore | SubAgentManager.SubAgentManager

/**
 * The services of an app. The SandboxManager is the only way to its shell.
 *
 * @since 0.1.0
 * @category models
 */
export type Services = Tools | Extensions | SandboxManager.SandboxManager

/**
 * Synapse's own commands, as effects that make their handlers.
 *
 * @since 0.1.0
 * @category commands
 */
export const commands = {
  apply_patch: Edit.makeApplyPatch,
  bash: Bash.make,
  "command:search": Search.make,
  edit: Edit.make,
  "job:list": Job.list,
  "job:output": Job.output,
  "job:screen": JobTerminal.screen,
  "job:send": JobTerminal.send,
  "job:start": JobTerminal.start,
  "job:stop": Job.stop,
  "job:wait": Job.wait,
  "mcp:*": Mcp.make,
  read: Read.make,
  "skill:*": Skill.make,
  "task:*": Task.make,
  TodoWrite: TodoWrite.make,
  write: Write.make
}

/**
 * Changes to Synapse's own commands: `false` removes one, a handler replaces it. `CommandRegistry.layerAdd` adds
 * others.
 *
 * @since 0.1.0
 * @category models
 */
export type Commands = {
  readonly [Name in keyof typeof commands]?:
    | false
    | Handler
    | Effect.Effect<
        Handler,
        never,
        | CommandRegistry.CommandRegistry
        | Jobs.Jobs
        | McpClient.McpClient
        | SandboxManager.SandboxManager
        | SkillStore.SkillStore
        | SubAgentManager.SubAgentManager
        | TodoStore.TodoStore
      >
}

const layerCommands = (changes: Commands) =>
  Layer.scopedDiscard(
    Effect.flatMap(CommandRegistry.CommandRegistry, (registry) =>
      Effect.forEach(
        Object.values<Commands[keyof Commands]>({ ...commands, ...changes }),
        (made) =>
          made === false || made === undefined
            ? Effect.void
            : Effect.flatMap(Effect.isEffect(made) ? made : Effect.succeed(made), registry.add),
        { discard: true }
      )
    )
  ).pipe(Layer.orDie)

/**
 * Builds a layer over services, and adds its own to them. A chain of these costs a quarter of `Layer.provideMerge`, and
 * every start of an app or a sub-agent waits for it.
 *
 * @since 0.1.0
 * @internal
 */
export const over =
  <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  <B>(services: Context.Context<B>): Effect.Effect<Context.Context<A | B>, E, Exclude<R, B> | Scope.Scope> =>
    Effect.map(Effect.provide(Layer.build(layer), services), (made) => Context.merge(services, made))

const layerToolsOver = (
  changes: Commands = {}
): Layer.Layer<
  Exclude<Tools, CommandRegistry.CommandRegistry>,
  never,
  CommandRegistry.CommandRegistry | JobTable.SessionJobs | SandboxManager.SandboxManager | Extensions
> =>
  Layer.scopedContext(
    over(Jobs.layer)(Context.empty()).pipe(
      Effect.flatMap(over(TodoStore.layer)),
      Effect.flatMap(over(layerCommands(changes))),
      Effect.flatMap(over(BashRouter.layer)),
      Effect.flatMap(over(BashTool.layer)),
      Effect.flatMap(over(Toolset.layer))
    )
  )

const registry = over(CommandRegistry.layer)(Context.empty())

/**
 * A layer of the tools over any shell and any extensions.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTools = (
  changes: Commands = {}
): Layer.Layer<Tools, never, JobTable.SessionJobs | SandboxManager.SandboxManager | Extensions> =>
  Layer.scopedContext(Effect.flatMap(registry, over(layerToolsOver(changes))))

/**
 * The options of an app.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * Settings of the sandbox, which take precedence over `sandbox.json` and the environment. `{ enabled: false }` makes
   * an app without a sandbox.
   */
  readonly sandbox?: Partial<SandboxSettings.Settings>
  /**
   * Asks a person when the policy denies something, also for sub-agents. By default, nobody is asked and it stays
   * denied.
   */
  readonly permission?: Layer.Layer<Permission.Permission>
  /** Enforces the policy of the provider `local` instead of this machine's kernel. */
  readonly platform?: Layer.Layer<
    SandboxPlatform.SandboxPlatform,
    never,
    SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
  >
  /**
   * Sandbox providers, made by `SandboxProvider.layerAdd`, that `sandbox.json` may choose by name. One named `local`
   * replaces Synapse's own.
   */
  readonly providers?: Layer.Layer<
    never,
    DuplicateName,
    SandboxProvider.SandboxProviders | SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
  >
  /** Changes to Synapse's own commands. */
  readonly commands?: Commands
  /**
   * True to list MCP commands and skills in the tool's description, one line each, up to 2,000 bytes
   * (`SYNAPSE_DESCRIBE_EXTENSIONS`). By default, the description only tells how to find them.
   */
  readonly describeExtensions?: boolean
  /** Finds the models of sub-agents, instead of the settings and the environment. */
  readonly models?: Layer.Layer<ModelProvider, ConfigError>
  /** Runs sub-agents instead of Synapse's own manager. */
  readonly subAgents?: Layer.Layer<SubAgentManager.SubAgentManager>
}

/** Rejects keys of `Given` that `Known` does not have. */
type NoMore<Known, Given> = { readonly [Key in Exclude<keyof Given, keyof Known>]: never }

type Sandboxing = "permission" | "platform" | "providers"

/**
 * Options that all have an effect. Unknown names do not type-check, nor do sandbox options in an app without a sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export type Checked<Given extends Options> = Given &
  NoMore<Options, Given> & {
    readonly sandbox?: NoMore<SandboxSettings.Settings, Given["sandbox"]>
    readonly commands?: NoMore<Commands, Given["commands"]>
  } & (Given extends { readonly sandbox: { readonly enabled: false } }
    ? { readonly [Key in Sandboxing]?: never }
    : unknown)

const depsOf = (options: Options): SubAgents.Deps => ({
  app: (isReadOnly, config) =>
    shellOf(options).pipe(
      Effect.flatMap(over(LocalSkillStore.layer)),
      Effect.flatMap(over(isReadOnly ? McpClient.layerNone : Layer.provide(LiveMcpClient.layerFromEnv, config))),
      Effect.flatMap(over(SubAgentManager.layerNested)),
      Effect.flatMap(over(layerToolsOver(isReadOnly ? onlyReading(options.commands) : options.commands)))
    ),
  models: options.models
})

/** Leaves out commands that are not Synapse's own, and MCP commands, which act outside the sandbox. */
const onlyReading = (changes: Commands = {}): Commands => ({
  ...Object.fromEntries(Object.keys(changes).map((name) => [name, false])),
  "mcp:*": false
})

const layerExtensions = (options: Options) =>
  Layer.scopedContext(
    over(FileMcpConfig.layer)(Context.empty()).pipe(
      Effect.flatMap(over(LiveMcpClient.layerFromEnv)),
      Effect.flatMap(over(LocalSkillStore.layer)),
      Effect.flatMap(over(options.subAgents ?? SubAgents.layer(depsOf(options))))
    )
  )

/** Builds the shell and what it calls back; the tools share its registry. */
const shellOf = (options: Options) =>
  registry.pipe(
    Effect.flatMap(over(Bridge.layer)),
    Effect.flatMap(over(AppSandbox.layer(options))),
    Effect.flatMap(
      over(
        Description.layerFromEnv(
          options.describeExtensions === undefined ? {} : { describeExtensions: options.describeExtensions }
        )
      )
    )
  )

/**
 * Makes the commands of a running shell.
 *
 * @since 0.1.0
 * @internal
 */
export const bridgeCommands = Effect.suspend(() =>
  over(layerExtensions({}))(Context.empty()).pipe(
    Effect.flatMap(over(CommandRegistry.layer)),
    Effect.flatMap(over(Jobs.layer)),
    Effect.flatMap(over(TodoStore.layer)),
    Effect.flatMap(over(layerCommands({}))),
    Effect.flatMap((services) => Effect.provide(Bridge.make, services))
  )
)

/**
 * A layer of the tools over a real shell in a sandbox. The shell starts with the first command and ends with the scope.
 * Settings that are not given come from the environment, then from the defaults.
 *
 * Every call makes its own app: two calls in one program make two shells, while one layer used twice is one shell.
 *
 * @example
 * ```ts
 * import { CommandRegistry, Synapse, Toolset } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const greet = CommandRegistry.layerAdd({
 *   name: "greet",
 *   summary: "Greets.",
 *   usage: "greet <name>",
 *   run: ({ args }) => Effect.succeed({ stdout: `Hello ${args.join(" ")}\n`, stderr: "", exitCode: 0 })
 * })
 *
 * const app = greet.pipe(
 *   Layer.provideMerge(Synapse.layer({ cwd: "/tmp", timeout: 10_000 }, { sandbox: { blacklist: ["*.pem"] }, commands: { edit: false } }))
 * )
 *
 * const program = Effect.flatMap(Toolset.Toolset, (toolset) =>
 *   toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"greet you | tr a-z A-Z"}' })
 * ).pipe(Effect.provide(app))
 * ```
 * @since 0.1.0
 * @category layers
 */
export const layer = <
  Given extends Partial<SessionSettings.Settings> = Record<never, never>,
  const Differing extends Options = Record<never, never>
>(
  settings?: Given & NoMore<SessionSettings.Settings, Given>,
  options?: Checked<Differing>
): Layer.Layer<Services, ConfigError> =>
  Layer.scopedContext(
    Effect.flatMap(AppSandbox.floor(settings ?? {}, options ?? {}), (floor) =>
      shellOf(options ?? {}).pipe(
        Effect.flatMap(over(layerExtensions(options ?? {}))),
        Effect.flatMap(over(layerToolsOver(options?.commands))),
        Effect.map(Context.omit(Description.DescriptionSettings, McpConfig, ShellBridge)),
        Effect.provide(floor)
      )
    )
  )

/**
 * A layer of the tools of a read-only agent, with the rights of `task:explore`.
 *
 * @since 0.1.0
 * @internal
 */
export const layerReading = (
  settings: Partial<SessionSettings.Settings>,
  options: Options
): Layer.Layer<AgentTools.Services, CommandError | ConfigError> =>
  Layer.scopedContext(
    Effect.flatMap(AppSandbox.floor(settings, options), (floor) =>
      shellOf(options).pipe(
        Effect.flatMap(over(FileMcpConfig.layer)),
        Effect.flatMap((services) => Effect.provide(SubAgents.reading(depsOf(options)), services)),
        Effect.provide(floor)
      )
    )
  )

/**
 * Makes a teardown for `NodeRuntime.runMain`. An interrupted program then exits with 130 after SIGINT and 143 after
 * SIGTERM, as shells expect.
 *
 * @example
 * ```ts
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Synapse } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * NodeRuntime.runMain(Effect.never, { teardown: Synapse.teardown() })
 * ```
 * @since 0.1.0
 * @category utils
 */
export const teardown = (): Teardown => {
  let stoppedWith = 0
  const codes = { SIGINT: ExitCode.interrupted, SIGTERM: ExitCode.terminated }
  for (const [signal, code] of Object.entries(codes)) {
    process.once(signal, () => {
      stoppedWith ||= code
    })
  }
  return (exit, onExit) => {
    if (Exit.isSuccess(exit)) return onExit(ExitCode.success)
    return onExit(Cause.isInterruptedOnly(exit.cause) ? stoppedWith || ExitCode.interrupted : ExitCode.failure)
  }
}
