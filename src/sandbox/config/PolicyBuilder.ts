/**
 * Builds the policy of a directory: built in < `sandbox.json` < settings < this session. Lists only ever grow.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as HostPath from "../policy/HostPath.js"
import * as PolicyMerge from "../policy/PolicyMerge.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import { SandboxConfig } from "./SandboxConfig.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import type { SandboxFile } from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"

/**
 * What the session adds. Entries are read like those of the file: what is an exact path goes through `PathGlob.escape`.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuntimeRules {
  readonly whitelist?: ReadonlyArray<string>
  readonly blacklist?: ReadonlyArray<string>
  /** Exact, absolute paths that a person allowed against the blacklist. */
  readonly granted?: ReadonlyArray<string>
}

/**
 * Builds the policy that a sandbox is held to, from all that has a say in it.
 *
 * @since 0.1.0
 * @category tags
 */
export class PolicyBuilder extends Context.Tag("synapse/PolicyBuilder")<
  PolicyBuilder,
  {
    /**
     * Builds the policy for a directory as of now: `sandbox.json` is read, and real paths are looked up. Fails, naming the entry,
     * where the file is broken, an entry means nothing, or the directory itself is on the blacklist.
     */
    readonly build: (cwd: string, runtime?: RuntimeRules) => Effect.Effect<SandboxPolicy, SandboxConfigError>
  }
>() {}

/**
 * Where secrets usually are. Users add to it, and never take from it.
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
 * The file of a project that Synapse starts servers by, with the rights of its user and without being asked.
 *
 * @since 0.1.0
 * @category constructors
 */
export const serversFile = "mcp_servers.json"

/** On Linux only what is there can be held; what is not lies in the project's directory, which may be written. */
const canHold = (path: string): boolean => process.platform === "darwin" || !HostPath.isMissing(path)

/**
 * Merges what the layers say into a policy, without reading anything but real paths.
 *
 * @param file where `config` comes from
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
  const { home, program, temporary, userHome, variables } = settings
  const parts: PolicyMerge.Parts = {
    expansion: { cwd: directory, userHome, variables },
    layers: [
      { source: "default", origin: "the defaults", prefix: "", blacklist: defaultBlacklist },
      { source: "file", origin: file, prefix: "policy.filesystem.", ...config.policy.filesystem },
      { source: "user", origin: "the settings", prefix: "", ...listsOf(settings) },
      { source: "runtime", origin: "this session", prefix: "", ...listsOf(runtime) }
    ],
    granted: runtime.granted ?? [],
    temporary,
    file,
    home,
    own: [...program, ...[Path.join(directory, serversFile)].filter(canHold)]
  }
  return Either.mapLeft(PolicyMerge.merge(parts), (objection) => new SandboxConfigError(objection))
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
      })
    })
  })
)
