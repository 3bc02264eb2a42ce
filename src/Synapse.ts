/**
 * The whole house: everything that a tool call passes through, from the toolset down to the shell.
 *
 * @since 0.1.0
 */

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "./bridge/Bridge.js"
import type { Handler } from "./command/CommandHandler.js"
import * as CommandRegistry from "./command/CommandRegistry.js"
import * as Bash from "./commands/bash/Bash.js"
import * as Edit from "./commands/edit/Edit.js"
import * as Read from "./commands/read/Read.js"
import * as TodoWrite from "./commands/todo/TodoWrite.js"
import * as Write from "./commands/write/Write.js"
import type { DuplicateName } from "./domain/DuplicateName.js"
import * as TodoStore from "./extension/TodoStore.js"
import * as BashRouter from "./router/BashRouter.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "./sandbox/LocalSandboxProvider.js"
import * as Permission from "./sandbox/permission/Permission.js"
import * as LinuxPlatform from "./sandbox/platform/linux/LinuxPlatform.js"
import * as MacOsPlatform from "./sandbox/platform/macos/MacOsPlatform.js"
import type * as SandboxPlatform from "./sandbox/platform/SandboxPlatform.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
import * as SandboxProvider from "./sandbox/SandboxProvider.js"
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
 * What a house gives. The only way to its shell leads through the SandboxManager.
 *
 * @since 0.1.0
 * @category models
 */
export type Services = Tools | SandboxManager.SandboxManager

/**
 * The commands that Synapse brings, by their names: what makes the handler of each.
 *
 * @since 0.1.0
 * @category commands
 */
export const commands = {
  bash: Bash.make,
  edit: Edit.make,
  read: Read.make,
  TodoWrite: TodoWrite.make,
  write: Write.make
}

/**
 * Changes to the commands that Synapse brings: `false` leaves one out, a handler takes its place. Further ones come in by
 * `CommandRegistry.layerAdd`.
 *
 * @since 0.1.0
 * @category models
 */
export type Commands = {
  readonly [Name in keyof typeof commands]?:
    | false
    | Handler
    | Effect.Effect<Handler, never, SandboxManager.SandboxManager | TodoStore.TodoStore>
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
 * The tools over any shell.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTools = (changes: Commands = {}): Layer.Layer<Tools, never, SandboxManager.SandboxManager> =>
  Toolset.layer.pipe(
    Layer.provideMerge(BashTool.layer),
    Layer.provideMerge(BashRouter.layer),
    Layer.provideMerge(layerCommands(changes)),
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
  /** What enforces the policy of the provider `local`, in place of this machine's kernel. */
  readonly platform?: Layer.Layer<
    SandboxPlatform.SandboxPlatform,
    never,
    SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
  >
  /**
   * Sandbox providers, made by `SandboxProvider.layerAdd`, that `sandbox.json` may choose by name. One that is called `local`
   * takes the place of the one that Synapse brings.
   */
  readonly providers?: Layer.Layer<
    never,
    DuplicateName,
    SandboxProvider.SandboxProviders | SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
  >
  /** Changes to the commands that Synapse brings. */
  readonly commands?: Commands
}

/** Nothing that `Known` does not have. */
type NoMore<Known, Given> = { readonly [Key in Exclude<keyof Given, keyof Known>]: never }

/** What a house without a sandbox does not ask for. */
type Sandboxing = "permission" | "platform" | "providers"

/**
 * Options that all have an effect: with a name that there is not, or with what only a sandbox uses in a house without one,
 * they do not type-check.
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

/** What the settings put into the environment is let through by its names, whatever it looks like. */
const layerPlatform = Layer.unwrapEffect(
  Effect.gen(function* () {
    const environment = Object.keys((yield* SessionSettings.SessionSettings).environment)
    const { home } = yield* SandboxSettings.SandboxSettings
    return process.platform === "darwin"
      ? MacOsPlatform.layer({ variables: environment })
      : LinuxPlatform.layerOptions({ environment, index: `${home}/index` })
  })
)

const layerSandbox = ({ permission = Permission.layerNone, platform = layerPlatform, providers, sandbox }: Options) =>
  SandboxManager.layer.pipe(
    Layer.provide(LocalSandboxProvider.layer),
    Layer.provide(providers === undefined ? Layer.empty : Layer.orDie(providers)),
    Layer.provide(SandboxProvider.layer),
    Layer.provide(PolicyBuilder.layer),
    Layer.provide(SandboxConfig.layer),
    Layer.provide(Layer.mergeAll(platform, permission)),
    Layer.provide(SandboxSettings.layerFromEnv(sandbox))
  )

/**
 * A layer that shares nothing with others around it: neither with another call of the same function, as parts of a module
 * would, nor, unlike `Layer.fresh`, is it built twice where it is used twice.
 *
 * @internal
 */
export const own = <A, E>(layer: Layer.Layer<A, E>): Layer.Layer<A, E> => Layer.scopedContext(Layer.build(layer))

/**
 * The tools over a real shell in a sandbox, which is started with the first command and ends with the scope. Settings that
 * are not given come from the environment, then from the defaults.
 *
 * Every call makes a house of its own: two of them in one program are two shells, and the same value used twice is one.
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
 * const house = greet.pipe(
 *   Layer.provideMerge(Synapse.layer({ cwd: "/tmp", timeout: 10_000 }, { sandbox: { blacklist: ["*.pem"] }, commands: { edit: false } }))
 * )
 *
 * const program = Effect.flatMap(Toolset.Toolset, (toolset) =>
 *   toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"greet you | tr a-z A-Z"}' })
 * ).pipe(Effect.provide(house))
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
  own(
    layerTools(options?.commands).pipe(
      Layer.provideMerge(layerSandbox(options ?? {})),
      Layer.provide(Bridge.layer),
      // The same registry that the tools have: the shell calls its commands.
      Layer.provide(CommandRegistry.layer),
      Layer.provide(SessionSettings.layerFromEnv(settings)),
      Layer.provide(NodeFileSystem.layer)
    )
  )
