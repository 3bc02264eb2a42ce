/**
 * The whole house: everything that a tool call passes through, from the toolset down to the shell.
 *
 * @since 0.1.0
 */

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandRegistry from "./command/CommandRegistry.js"
import * as Bash from "./commands/bash/Bash.js"
import * as Edit from "./commands/edit/Edit.js"
import * as Read from "./commands/read/Read.js"
import * as TodoWrite from "./commands/todo/TodoWrite.js"
import * as Write from "./commands/write/Write.js"
import * as TodoStore from "./extension/TodoStore.js"
import * as BashRouter from "./router/BashRouter.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "./sandbox/LocalSandboxProvider.js"
import * as Permission from "./sandbox/permission/Permission.js"
import * as LinuxPlatform from "./sandbox/platform/linux/LinuxPlatform.js"
import * as MacOsPlatform from "./sandbox/platform/macos/MacOsPlatform.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
import * as SandboxProvider from "./sandbox/SandboxProvider.js"
import * as BashSession from "./session/BashSession.js"
import * as SessionSettings from "./session/SessionSettings.js"
import * as BashTool from "./toolset/BashTool.js"
import * as Toolset from "./toolset/Toolset.js"

/**
 * What stands above the shell.
 *
 * @since 0.1.0
 * @category models
 */
export type Tools =
  | Toolset.Toolset
  | BashTool.BashTool
  | BashRouter.BashRouter
  | CommandRegistry.CommandRegistry
  | TodoStore.TodoStore

/**
 * @since 0.1.0
 * @category models
 */
export type Services = Tools | SandboxManager.SandboxManager | BashSession.BashSession

/** The commands that Synapse brings. No two of them have the same name. */
const commands = Layer.orDie(
  Layer.mergeAll(
    CommandRegistry.layerAddEffect(Bash.make),
    CommandRegistry.layerAddEffect(Edit.make),
    CommandRegistry.layerAddEffect(Read.make),
    CommandRegistry.layerAddEffect(TodoWrite.make),
    CommandRegistry.layerAddEffect(Write.make)
  )
)

/**
 * The tools over any shell.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTools: Layer.Layer<Tools, never, SandboxManager.SandboxManager> = Toolset.layer.pipe(
  Layer.provideMerge(BashTool.layer),
  Layer.provideMerge(BashRouter.layer),
  Layer.provideMerge(commands),
  Layer.provideMerge(Layer.mergeAll(CommandRegistry.layer, TodoStore.layer))
)

/**
 * What a house may differ in.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Over `sandbox.json` and the environment; `{ enabled: false }` is a house without a sandbox. */
  readonly sandbox?: Partial<SandboxSettings.Settings>
  /** Whom to ask when the policy denies something; nobody where it is not given, and so it stays denied. */
  readonly permission?: Layer.Layer<Permission.Permission>
}

/** What the settings put into the environment is let through by its names, whatever it looks like. */
const layerPlatform = Layer.unwrapEffect(
  Effect.gen(function* () {
    const environment = Object.keys((yield* SessionSettings.SessionSettings).environment)
    const { home } = yield* SandboxSettings.SandboxSettings
    return process.platform === "darwin"
      ? MacOsPlatform.layer({ variables: environment })
      : LinuxPlatform.layerOptions({ environment, cache: `${home}/cache` })
  })
)

/** The sandbox of this machine. A provider of the user's comes in beside the local one, by `SandboxProvider.layerAdd`. */
const layerSandbox = ({ permission = Permission.layerNone, sandbox }: Options) =>
  SandboxManager.layer.pipe(
    Layer.provide(Layer.orDie(LocalSandboxProvider.layer)),
    Layer.provideMerge(SandboxProvider.layer),
    Layer.provide(PolicyBuilder.layer),
    Layer.provide(SandboxConfig.layer),
    Layer.provide(Layer.mergeAll(layerPlatform, permission)),
    Layer.provide(SandboxSettings.layerFromEnv(sandbox))
  )

/**
 * The tools over a real shell in a sandbox, which is started with the first command and ends with the scope. Settings that
 * are not given come from the environment, then from the defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  settings: Partial<SessionSettings.Settings> = {},
  options: Options = {}
): Layer.Layer<Services, ConfigError> =>
  layerTools.pipe(
    Layer.provideMerge(layerSandbox(options)),
    Layer.provideMerge(BashSession.layer),
    // The same registry that the tools have: the shell calls its commands.
    Layer.provide(CommandRegistry.layer),
    Layer.provide(SessionSettings.layerFromEnv(settings)),
    Layer.provide(NodeFileSystem.layer)
  )
