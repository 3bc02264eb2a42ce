/**
 * Synapse over a scripted shell, for tests of programs that use Synapse.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AgentType from "./agent/AgentType.js"
import * as Bridge from "./bridge/Bridge.js"
import * as CommandRegistry from "./command/CommandRegistry.js"
import * as CallContext from "./domain/CallContext.js"
import type { CommandError } from "./domain/CommandError.js"
import * as CommandResult from "./domain/CommandResult.js"
import * as McpClient from "./extension/mcp/McpClient.js"
import * as SubAgentManager from "./extension/SubAgentManager.js"
import * as SkillStore from "./extension/skill/SkillStore.js"
import * as Synapse from "./Synapse.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as Permission from "./sandbox/permission/Permission.js"
import type { SandboxBackend } from "./sandbox/SandboxBackend.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
import * as SandboxProvider from "./sandbox/SandboxProvider.js"
import type { ExecuteOptions } from "./session/BashSession.js"
import * as JobTable from "./session/JobTable.js"
import * as SessionSettings from "./session/SessionSettings.js"

/**
 * Answers a command with a result or an effect of one. Missing fields mean success without output.
 *
 * @since 0.1.0
 * @category models
 */
export type Script = (
  command: string,
  options: ExecuteOptions
) => Partial<CommandResult.CommandResult> | Effect.Effect<Partial<CommandResult.CommandResult>, CommandError>

/**
 * A command or a restart that reached the shell.
 *
 * @since 0.1.0
 * @category models
 */
export type ShellCall = Data.TaggedEnum<{
  Execute: { readonly command: string; readonly timeout?: number }
  Restart: Record<never, never>
}>

/**
 * The scripted shell, which records its calls.
 *
 * @since 0.1.0
 * @category tags
 */
export class TestShell extends Context.Tag("synapse/TestShell")<
  TestShell,
  {
    /** Returns every call that reached the shell, in order. */
    readonly calls: Effect.Effect<ReadonlyArray<ShellCall>>
  }
>() {}

/**
 * Answers a sub-agent's task with its final text or an effect of one.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskScript = (
  type: string,
  task: SubAgentManager.SubAgentTask
) => string | Effect.Effect<string, CommandError>

/**
 * A layer of a manager with the built-in types, whose sub-agents answer as `script` does.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSubAgents = (script: TaskScript): Layer.Layer<SubAgentManager.SubAgentManager> =>
  Layer.sync(SubAgentManager.SubAgentManager, () =>
    SubAgentManager.SubAgentManager.of({
      isOffered: true,
      types: () => AgentType.all,
      look: Effect.succeed(AgentType.all),
      check: () => Effect.void,
      execute: (type, task) =>
        Effect.suspend(() => {
          const answer = script(type, task)
          return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
        })
    })
  )

/** A layer of the real manager over one sandbox, in which commands are answered by the script. */
const layerShell = (script: Script, cwd: string): Layer.Layer<SandboxManager.SandboxManager | TestShell> =>
  Layer.suspend(() => {
    const calls: Array<ShellCall> = []
    const backend: SandboxBackend = {
      policy: undefined,
      cwd: Effect.succeed(cwd),
      restart: Effect.sync(() => {
        calls.push({ _tag: "Restart" })
      }),
      execute: (command, options = {}) =>
        Effect.suspend(() => {
          const { timeout } = options
          calls.push({ _tag: "Execute", command, ...(timeout === undefined ? {} : { timeout }) })
          const answer = script(command, options)
          return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
        }).pipe(
          Effect.map((fields) => ({ blocked: false, ...CommandResult.make(fields) })),
          Effect.tap(CallContext.tell)
        ),
      dispose: Effect.void
    }
    const provider: SandboxProvider.SandboxProvider = {
      name: "scripted",
      enforces: false,
      create: () => Effect.succeed(backend),
      destroy: () => Effect.void
    }
    const policy = { cwd, whitelist: [], blacklist: [], readonly: [], allowNetwork: false } as const
    return Layer.effect(
      TestShell,
      Effect.as(
        Effect.flatMap(SandboxManager.SandboxManager, ({ getSandbox }) => Effect.orDie(getSandbox(cwd))),
        TestShell.of({ calls: Effect.sync(() => [...calls]) })
      )
    ).pipe(
      Layer.provideMerge(SandboxManager.layer),
      Layer.provide([
        Layer.provide(Bridge.layer, CommandRegistry.layer),
        Permission.layerNone,
        PolicyBuilder.layerFixed(policy),
        SandboxConfig.layerMemory({ provider: provider.name }),
        Layer.orDie(SandboxProvider.layerAdd(Effect.succeed(provider))).pipe(Layer.provideMerge(SandboxProvider.layer)),
        SessionSettings.layer({ cwd })
      ]),
      Layer.provide(SandboxSettings.layer())
    )
  })

/**
 * A layer of the tools over a shell that answers as `script` does. It starts no process and reads no configuration.
 *
 * @example
 * ```ts
 * import { TestSynapse, Toolset } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * const test = Effect.gen(function* () {
 *   const toolset = yield* Toolset.Toolset
 *   const shell = yield* TestSynapse.TestShell
 *   const { output } = yield* toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"git status"}' })
 *   console.assert(output === "clean\n")
 *   console.assert((yield* shell.calls).length === 1)
 * }).pipe(Effect.provide(TestSynapse.layer((command) => (command === "git status" ? { stdout: "clean\n" } : { exitCode: 1 }))))
 * ```
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  script: Script = () => ({}),
  options: {
    readonly cwd?: string
    readonly commands?: Synapse.Commands
    /** Answers the tasks of sub-agents. Without it, sub-agents are not available. */
    readonly subAgents?: TaskScript
  } = {}
): Layer.Layer<Synapse.Services | TestShell> =>
  // Each call makes its own app, though it is made of layers in modules.
  Layer.scopedContext(
    Layer.build(
      Synapse.layerTools(options.commands).pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            JobTable.layer,
            McpClient.layerNone,
            SkillStore.layerNone,
            options.subAgents === undefined ? SubAgentManager.layerNone : layerSubAgents(options.subAgents)
          )
        ),
        Layer.provideMerge(layerShell(script, options.cwd ?? "/"))
      )
    )
  )
