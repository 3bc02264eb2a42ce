/**
 * Builds the policy of a directory from the built-in rules, `sandbox.json`, the settings and this session. Each adds
 * rules; none removes any.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ShellEnvironment from "../../session/ShellEnvironment.js"
import * as HostPath from "../policy/HostPath.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as PolicyMerge from "../policy/PolicyMerge.js"
import * as RealPath from "../policy/RealPath.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import { SandboxConfig } from "./SandboxConfig.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import type { SandboxFile } from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"
import * as TrustedFiles from "./TrustedFiles.js"
import * as WrittenPlaces from "./WrittenPlaces.js"

/**
 * The rules that the session adds. Entries are read like those of `sandbox.json`: an exact path has to be escaped with
 * `PathGlob.escape`.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuntimeRules {
  readonly whitelist?: ReadonlyArray<string>
  readonly blacklist?: ReadonlyArray<string>
  /** Exact, absolute paths that a person allowed to read although they are on the blacklist. */
  readonly granted?: ReadonlyArray<string>
}

/**
 * Builds the policy that a sandbox enforces.
 *
 * @since 0.1.0
 * @category tags
 */
export class PolicyBuilder extends Context.Tag("synapse/PolicyBuilder")<
  PolicyBuilder,
  {
    /**
     * Builds the policy for a directory as of now: reads `sandbox.json`, and resolves real paths. Fails, naming the
     * entry, where the file or an entry is invalid, or where the directory itself is on the blacklist.
     */
    readonly build: (cwd: string, runtime?: RuntimeRules) => Effect.Effect<SandboxPolicy, SandboxConfigError>
    /** Builds the policy at once, as `build` does. */
    readonly peek: (cwd: string, runtime?: RuntimeRules) => Either.Either<SandboxPolicy, SandboxConfigError>
  }
>() {}

/**
 * The built-in blacklist: places where secrets usually lie. Users can add to it, not remove from it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultBlacklist: ReadonlyArray<string> = [
  "~/.ssh",
  "~/.aws",
  "~/.gnupg",
  "~/.config/gcloud",
  "~/.azure",
  "/etc/shadow",
  "**/.env",
  "**/.envrc",
  "**/.env.local",
  "**/credentials.json",
  "**/secrets.json"
]

/**
 * The name of the project's file that lists MCP servers. It is read-only for commands, because Synapse starts what it
 * names with all rights of its user, and without asking.
 *
 * @since 0.1.0
 * @category constructors
 */
export const serversFile = "mcp_servers.json"

/**
 * The files of Synapse's own that no command reads: they hold keys of models, tokens of servers, and what agents were
 * shown.
 */
const secrets = ["settings.json", `mcp/${serversFile}`, "sessions"]

/** Returns the built-in blacklist, for the directory of Synapse's own files and for other users' home directories. */
const builtIn = (home: string, homes: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...defaultBlacklist,
  ...homes.flatMap((other) =>
    defaultBlacklist.flatMap((entry) =>
      entry.startsWith("~/") ? [PathGlob.escape(Path.join(other, entry.slice(2)))] : []
    )
  ),
  ...secrets.map((name) => PathGlob.escape(Path.join(home, name)))
]

/**
 * Returns the directory for the caches of tools, of the sessions in one directory: what the commands of one project leave
 * there reaches no other's.
 *
 * @since 0.1.0
 */
export const toolCacheOf = (home: string, cwd: string): string =>
  Path.join(home, "tool-cache", Crypto.createHash("sha256").update(cwd).digest("hex").slice(0, 16))

/** Returns what the settings, or else the file, switch on besides the lists. */
const switchesOf = (
  cwd: string,
  { policy }: SandboxFile,
  { home, toolCache = policy.toolCache ?? true, unixSockets = policy.unixSockets ?? false }: Settings
): Pick<SandboxPolicy, "toolCache" | "unixSockets"> => ({
  ...(unixSockets ? { unixSockets } : undefined),
  ...(toolCache ? { toolCache: PolicyMerge.exact(toolCacheOf(home, RealPath.follow(cwd).real), "cache") } : undefined)
})

/** Returns whether the sandbox can keep a path read-only: on Linux, only a path that exists. */
const canHold = (path: string): boolean => process.platform === "darwin" || !HostPath.isMissing(path)

/**
 * Merges the built-in rules, `sandbox.json`, the settings, the session's rules and the files that the user trusts into a
 * policy. Reads nothing but those files' list and real paths.
 *
 * @param file the path of the file that `config` was read from
 * @since 0.1.0
 * @category constructors
 */
export const merge = (
  cwd: string,
  file: string,
  config: SandboxFile,
  settings: Settings,
  runtime: RuntimeRules = {}
): Either.Either<SandboxPolicy, SandboxConfigError> => {
  const directory = Path.resolve(cwd)
  const follow = RealPath.once()
  const { home, homes, program, temporary, userHome, variables } = settings
  const parts: PolicyMerge.Parts = {
    expansion: { cwd: directory, userHome, variables },
    layers: [
      { source: "default", origin: "the defaults", prefix: "", blacklist: builtIn(home, homes) },
      { source: "file", origin: file, prefix: "policy.filesystem.", ...config.policy.filesystem },
      { source: "user", origin: "the settings", prefix: "", ...listsOf(settings) },
      { source: "runtime", origin: "this session", prefix: "", ...listsOf(runtime) }
    ],
    granted: runtime.granted ?? [],
    temporary,
    file,
    home,
    own: [...program, ...[Path.join(directory, serversFile)].filter(canHold)],
    trusted: TrustedFiles.read(home).flatMap(TrustedFiles.placesOf),
    entered: enteredBy(directory, variables, follow),
    follow,
    doubt: (path) => {
      const found = WrittenPlaces.doubt(home, path, follow(path))
      return found && { reason: WrittenPlaces.describe(found), real: found.real }
    }
  }
  return Either.mapLeft(
    Either.flatMap(PolicyMerge.merge(parts), (policy) =>
      Either.map(variablesOf({ [file]: config.env, "the settings": settings.env }), (environment) => ({
        ...policy,
        ...switchesOf(directory, config, settings),
        ...(environment.length === 0 ? undefined : { environment })
      }))
    ),
    (objection) => new SandboxConfigError(objection)
  )
}

/** Returns the path by which the user's shell has entered a directory, where it is another than its real one. */
const enteredBy = (
  directory: string,
  { PWD: path }: Settings["variables"],
  follow: typeof RealPath.follow
): string | undefined =>
  path !== undefined && path !== directory && Path.isAbsolute(path) && follow(path).real === directory
    ? path
    : undefined

/** Checks the names of variables that are let through, by their origins. */
const variablesOf = (
  lists: Readonly<Record<string, ReadonlyArray<string>>>
): Either.Either<ReadonlyArray<string>, PolicyMerge.Objection> => {
  for (const [origin, names] of Object.entries(lists)) {
    for (const [at, name] of names.entries()) {
      const reason = ShellEnvironment.refusal(name)
      if (reason === undefined) continue
      const remedy = "Nothing runs until that entry is corrected or taken away."
      return Either.left({ origin, path: `env[${at}]`, reason, remedy })
    }
  }
  return Either.right([...new Set(Object.values(lists).flat())])
}

const listsOf = ({ blacklist, whitelist }: RuntimeRules) => ({ blacklist, whitelist })

/**
 * A layer which builds policies from `sandbox.json` and the settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<PolicyBuilder, never, SandboxConfig | SandboxSettings> = Layer.effect(
  PolicyBuilder,
  Effect.gen(function* () {
    const config = yield* SandboxConfig
    const settings = yield* SandboxSettings
    return PolicyBuilder.of({
      build: Effect.fn("PolicyBuilder.build")(function* (cwd, runtime) {
        return yield* merge(cwd, config.file, yield* config.load, settings, runtime)
      }),
      peek: (cwd, runtime) => Either.flatMap(config.peek(), (file) => merge(cwd, config.file, file, settings, runtime))
    })
  })
)

/** Adds exact paths that were allowed during the session, but for one that leads elsewhere since then. */
const withRuntime = (policy: SandboxPolicy, { granted = [], whitelist = [] }: RuntimeRules): SandboxPolicy => {
  const rulesOf = (paths: ReadonlyArray<string>) =>
    paths.map((path) => PolicyMerge.exact(path, "runtime")).filter(({ real }) => real === undefined)
  const read = [...(policy.granted ?? []), ...rulesOf(granted)]
  return {
    ...policy,
    whitelist: [...policy.whitelist, ...rulesOf(whitelist.map(PathGlob.unescape))],
    ...(read.length === 0 ? undefined : { granted: read })
  }
}

/**
 * A layer whose policy is always this one, with what is allowed during the session, whatever the settings and
 * `sandbox.json` say.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFixed = (policy: SandboxPolicy): Layer.Layer<PolicyBuilder> =>
  Layer.succeed(PolicyBuilder, {
    build: (_, runtime = {}) => Effect.sync(() => withRuntime(policy, runtime)),
    peek: (_, runtime = {}) => Either.right(withRuntime(policy, runtime))
  })
