/**
 * The whole house: everything that a tool call passes through, from the toolset down to the shell.
 *
 * @since 0.1.0
 */

import type * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Layer from "effect/Layer"
import * as Bash from "./commands/Bash.js"
import * as CommandRegistry from "./grammar/CommandRegistry.js"
import * as BashRouter from "./router/BashRouter.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
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
export type Tools = Toolset.Toolset | BashTool.BashTool | BashRouter.BashRouter | CommandRegistry.CommandRegistry

/**
 * @since 0.1.0
 * @category models
 */
export type Services = Tools | SandboxManager.SandboxManager | BashSession.BashSession

/** The commands that Synapse brings. No two of them have the same name. */
const commands = Layer.orDie(CommandRegistry.layerAddEffect(Bash.make))

/**
 * The tools over any shell.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTools: Layer.Layer<Tools, never, SandboxManager.SandboxManager | FileSystem.FileSystem> =
  Toolset.layer.pipe(
    Layer.provideMerge(BashTool.layer),
    Layer.provideMerge(BashRouter.layer),
    Layer.provideMerge(commands),
    Layer.provideMerge(CommandRegistry.layer)
  )

/**
 * The tools over a real shell, which is started with the first command and ends with the scope. Settings that are not
 * given come from the environment, then from the defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<SessionSettings.Settings> = {}): Layer.Layer<Services, ConfigError> =>
  layerTools.pipe(
    Layer.provideMerge(SandboxManager.layerNone),
    Layer.provideMerge(BashSession.layer),
    Layer.provide(SessionSettings.layerFromEnv(settings)),
    Layer.provide(NodeFileSystem.layer)
  )
