/** The sandboxed shell of an app: its manager, this machine's platform, and its configuration. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as LateBridge from "./bridge/LateBridge.js"
import * as CommandName from "./command/CommandName.js"
import type { Options } from "./Synapse.js"
import * as PolicyBuilder from "./sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "./sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "./sandbox/LocalSandboxProvider.js"
import * as Permission from "./sandbox/permission/Permission.js"
import * as LinuxPlatform from "./sandbox/platform/linux/LinuxPlatform.js"
import { SandboxPlatform } from "./sandbox/platform/SandboxPlatform.js"
import * as HostPath from "./sandbox/policy/HostPath.js"
import * as SandboxManager from "./sandbox/SandboxManager.js"
import * as SandboxProvider from "./sandbox/SandboxProvider.js"
import * as JobTable from "./session/JobTable.js"
import * as PrivateDirectory from "./session/PrivateDirectory.js"
import * as SessionSettings from "./session/SessionSettings.js"
import { ShellBridge } from "./session/ShellBridge.js"
import * as ShellLauncher from "./session/ShellLauncher.js"

/**
 * Builds the platform of this machine. Sandboxed shells get every variable that the settings set, even one that looks
 * like a secret.
 */
const makePlatform = Effect.gen(function* () {
  const settings = yield* SessionSettings.SessionSettings
  const environment = Object.keys(settings.environment)
  const places = [...(settings.privateDirectories ?? []), ...PrivateDirectory.places()]
  const { home } = yield* SandboxSettings.SandboxSettings
  return process.platform === "darwin"
    ? Context.get(
        yield* Layer.build(
          (yield* Effect.promise(() => import("./sandbox/platform/macos/MacOsPlatform.js"))).layer({
            variables: environment
          })
        ),
        SandboxPlatform
      )
    : yield* LinuxPlatform.make({
        environment,
        temporaries: PolicyBuilder.temporariesOf(home),
        places
      })
})

/** Explains why a shell's command line can't start, judging by its first word. */
const problemOfShell = (shellCommand: string, cwd: string, path: string): string | undefined =>
  Either.match(ShellLauncher.parse(shellCommand), {
    onLeft: ({ reason }) => reason,
    onRight: ({ program }) => {
      const places = program.includes("/") ? [cwd] : path.split(Path.delimiter)
      return places.some((place) => HostPath.isProgram(Path.resolve(place, program)))
        ? undefined
        : `there is no program ${program}`
    }
  })

/** Finds a setting that can't work: a missing directory or shell, or a path that can't be allowed. */
const findUnworkable = (
  { cwd = ".", environment = {}, shellCommand }: Partial<SessionSettings.Settings>,
  sandbox: SandboxSettings.Settings
): { readonly path: string; readonly reason: string } | undefined => {
  if (!HostPath.isDirectory(cwd)) return { path: "cwd", reason: `${cwd} is not a directory` }
  const path = environment["PATH"] ?? sandbox.variables["PATH"] ?? ""
  const reason = shellCommand === undefined ? undefined : problemOfShell(shellCommand, cwd, path)
  if (reason !== undefined) return { path: "shellCommand", reason }
  const found = sandbox.enabled === false ? undefined : PolicyBuilder.checkSettings(cwd, sandbox)
  return found && { path: `sandbox.${found.path}`, reason: found.reason }
}

/** Builds the SandboxManager, which is the only way to the shell, and the table of its jobs. */
const make = ({ platform, providers }: Pick<Options, "platform" | "providers">) =>
  Effect.gen(function* () {
    const registry = SandboxProvider.make()
    const jobs = Context.make(JobTable.SessionJobs, new JobTable.JobTable())
    // Built by hand: composed layers take several times as long, and every start would wait for them.
    const services = (
      platform === undefined ? Context.make(SandboxPlatform, yield* makePlatform) : yield* Layer.build(platform)
    ).pipe(Context.merge(jobs), Context.add(SandboxProvider.SandboxProviders, registry))
    if (providers !== undefined) yield* Effect.orDie(Effect.provide(Layer.build(providers), services))
    const local = yield* Effect.provide(LocalSandboxProvider.make, services)
    // Fails if the app gave a provider named `local`, which then replaces this one.
    yield* Effect.ignore(registry.add(local))
    return Context.add(jobs, SandboxManager.SandboxManager, yield* Effect.provide(SandboxManager.make, services))
  })

export const layer = (options: Pick<Options, "platform" | "providers">) => Layer.scopedContext(make(options))

/** The settings of an app, the policies built from them, and whom to ask. */
export type Floor =
  | FileSystem.FileSystem
  | Permission.Permission
  | PolicyBuilder.PolicyBuilder
  | SandboxConfig.SandboxConfig
  | SandboxSettings.SandboxSettings
  | SessionSettings.SessionSettings

type Asked = Pick<Options, "permission" | "sandbox">

const settled = (given: Partial<SessionSettings.Settings>, { permission, sandbox: differing }: Asked) =>
  Effect.gen(function* () {
    const session = yield* SessionSettings.fromEnv(given)
    const sandbox = yield* SandboxSettings.fromEnv(differing, session.cwd)
    const fileSystem = yield* FileSystem.FileSystem
    const config = SandboxConfig.make(fileSystem, sandbox)
    return Context.make(SessionSettings.SessionSettings, session).pipe(
      Context.add(SandboxSettings.SandboxSettings, sandbox),
      Context.add(FileSystem.FileSystem, fileSystem),
      Context.add(SandboxConfig.SandboxConfig, config),
      Context.add(PolicyBuilder.PolicyBuilder, PolicyBuilder.make(config, sandbox)),
      // Sub-agents share it, so that their questions are asked in order.
      Context.merge(
        permission === undefined ? Context.make(Permission.Permission, Permission.none) : yield* Layer.build(permission)
      )
    )
  })

/** Builds what an app stands on. Fails with the name of a setting that can't work. */
export const floor = (
  given: Partial<SessionSettings.Settings>,
  options: Asked
): Effect.Effect<Context.Context<Floor>, ConfigError.ConfigError, Scope.Scope> =>
  settled(given, options).pipe(
    Effect.provide(NodeFileSystem.layer),
    Effect.tap((built) => {
      const found = findUnworkable(given, Context.get(built, SandboxSettings.SandboxSettings))
      return found && Effect.fail(ConfigError.InvalidData(found.path.split("."), found.reason))
    })
  )

const described = { summary: "", usage: "" }

/** The `task:` commands that programs in the shell can call. */
const tasks = ["explore", "general", "list", "skill"].map((type) => ({ ...described, name: `task:${type}` }))

/** A layer of the shell alone. Synapse's commands and their dependencies are loaded when the shell first calls one. */
export const layerShell = (
  settings: Partial<SessionSettings.Settings>,
  options: Asked
): Layer.Layer<
  JobTable.SessionJobs | SandboxConfig.SandboxConfig | SandboxManager.SandboxManager,
  ConfigError.ConfigError,
  FileSystem.FileSystem
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const services = yield* settled(settings, options)
      const { cwd = "." } = Context.get(services, SessionSettings.SessionSettings)
      const { home } = Context.get(services, SandboxSettings.SandboxSettings)
      const places = [
        ...["mcp_servers.json", ".mcp.json", ".agents/skills", ".claude/skills"].map((name) => `${cwd}/${name}`),
        ...["mcp/mcp_servers.json", "skills"].map((name) => `${home}/${name}`)
      ]
      const floor =
        yield* Deferred.make<Context.Context<Floor | JobTable.SessionJobs | SandboxManager.SandboxManager>>()
      const bridge = yield* LateBridge.make({
        callable: {
          names: CommandName.callable,
          prefixed: [
            { ...described, name: "mcp:*" },
            { ...described, name: "skill:*" },
            { ...described, name: "task:*", known: () => tasks }
          ]
        },
        hasExtensions: () => places.some((path) => Fs.existsSync(path)),
        load: Effect.gen(function* () {
          const { bridgeCommands } = yield* Effect.promise(() => import("./Synapse.js"))
          return yield* Effect.provide(bridgeCommands, yield* Deferred.await(floor))
        }).pipe(Effect.orDie)
      })
      const within = Context.add(services, ShellBridge, bridge)
      const built = Context.merge(services, yield* Effect.provide(make({}), within))
      yield* Deferred.succeed(floor, built)
      return built
    })
  )
