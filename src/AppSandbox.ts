/** The sandboxed shell of an app: its manager, this machine's platform, and its configuration. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
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

/** A layer of the sandbox's settings, `sandbox.json`, and the policies built from both. */
const layerConfiguration = ({ sandbox }: Pick<Options, "sandbox">, cwd?: string) =>
  PolicyBuilder.layer.pipe(
    Layer.provideMerge(SandboxConfig.layer),
    Layer.provideMerge(SandboxSettings.layerFromEnv(sandbox, cwd))
  )

/** Like `layerConfiguration`, but fails with the name of a setting that can't work. */
export const layerChecked = (options: Pick<Options, "sandbox">, settings: Partial<SessionSettings.Settings> = {}) =>
  Layer.tap(layerConfiguration(options, settings.cwd), (context) => {
    const found = findUnworkable(settings, Context.get(context, SandboxSettings.SandboxSettings))
    return found === undefined ? Effect.void : Effect.fail(ConfigError.InvalidData(found.path.split("."), found.reason))
  })

const described = { summary: "", usage: "" }

/** The `task:` commands that programs in the shell can call. */
const tasks = ["explore", "general", "list", "skill"].map((type) => ({ ...described, name: `task:${type}` }))

/** The services that the commands need. */
type Floor =
  | Layer.Layer.Success<ReturnType<typeof layerConfiguration>>
  | JobTable.SessionJobs
  | Permission.Permission
  | SandboxManager.SandboxManager
  | SessionSettings.SessionSettings

/** A layer of the shell alone. Synapse's commands and their dependencies are loaded when the shell first calls one. */
export const layerShell = (
  settings: Partial<SessionSettings.Settings>,
  options: Pick<Options, "permission" | "sandbox">
): Layer.Layer<
  JobTable.SessionJobs | SandboxConfig.SandboxConfig | SandboxManager.SandboxManager,
  ConfigError.ConfigError,
  FileSystem.FileSystem
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const session = yield* SessionSettings.fromEnv(settings)
      const sandbox = yield* SandboxSettings.fromEnv(options.sandbox, session.cwd)
      const { cwd = "." } = session
      const places = [
        ...["mcp_servers.json", ".agents/skills", ".claude/skills"].map((name) => `${cwd}/${name}`),
        ...["mcp/mcp_servers.json", "skills"].map((name) => `${sandbox.home}/${name}`)
      ]
      const floor = yield* Deferred.make<Context.Context<Floor>>()
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
        load: (within) =>
          Effect.gen(function* () {
            const { bridgeCommands } = yield* Effect.promise(() => import("./Synapse.js"))
            return yield* Effect.provide(bridgeCommands(within), yield* Deferred.await(floor))
          }).pipe(Effect.orDie)
      })
      const config = SandboxConfig.make(yield* FileSystem.FileSystem, sandbox)
      const permission =
        options.permission === undefined
          ? Permission.none
          : Context.get(yield* Layer.build(options.permission), Permission.Permission)
      const services = Context.make(SessionSettings.SessionSettings, session).pipe(
        Context.add(SandboxSettings.SandboxSettings, sandbox),
        Context.add(SandboxConfig.SandboxConfig, config),
        Context.add(PolicyBuilder.PolicyBuilder, PolicyBuilder.make(config, sandbox)),
        Context.add(Permission.Permission, permission),
        Context.add(ShellBridge, bridge)
      )
      const built = Context.merge(services, yield* Effect.provide(make({}), services))
      yield* Deferred.succeed(floor, built)
      return built
    })
  )
