/**
 * The policy of a sandbox: rules that say what its commands may read and write, each with its source.
 *
 * Whitelist: read and write. Blacklist: neither; it wins over the whitelist. Everything else is read-only. The network
 * is closed except for the hosts that are allowed by name.
 *
 * @since 0.1.0
 */
import type { Hosts } from "./HostEntry.js"

/**
 * The source of a rule.
 *
 * - `default`: built in
 * - `file`: `sandbox.json`
 * - `user`: a setting or a flag
 * - `runtime`: added by the session
 * - `cwd`, `tmp`: directories that every policy allows
 * - `own`: Synapse's own files
 * - `trust`: files that the user trusts as programs of MCP servers
 * - `cache`: the directory for tools' caches
 * - `git`: the working directory's repository, if it lies outside
 * - `startup`: files that the user's own tools run or load
 * - `socket`: where outside programs listen
 *
 * @since 0.1.0
 * @category models
 */
export type RuleSource =
  | "default"
  | "file"
  | "user"
  | "runtime"
  | "cwd"
  | "tmp"
  | "own"
  | "trust"
  | "cache"
  | "startup"
  | "git"
  | "socket"

/**
 * A rule for one path, or for all paths that a pattern matches.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule {
  /** The entry as written, which messages to users and models name. */
  readonly pattern: string
  /** An absolute path with `~` and variables expanded, but symbolic links not resolved. For a glob, the pattern. */
  readonly path: string
  readonly kind: "path" | "glob"
  readonly source: RuleSource
  /** `empty`: commands read the files as empty instead of being refused. */
  readonly hidden?: "empty"
  /** What `path` resolved to when the policy was built, if symbolic links made it different. */
  readonly real?: string
  /** True for the working directory if the user has also allowed it by name. */
  readonly isNamed?: true
  /** True for what needs no protection once the directory around it is gone: that directory is not made again. */
  readonly mayBeGone?: true
}

/**
 * A server's port in the sandbox, and the machine's port that leads to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Published {
  readonly inside: number
  readonly outside: number
}

/**
 * The policy that a sandbox enforces for one directory.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxPolicy {
  /** The directory that the sandbox is for. */
  readonly cwd: string
  readonly whitelist: ReadonlyArray<Rule>
  readonly blacklist: ReadonlyArray<Rule>
  /**
   * Paths that may be read but never written, even if whitelisted: the policy's own file, and the program's own
   * directory.
   */
  readonly readonly: ReadonlyArray<Rule>
  /**
   * Exact paths that a person allowed to read despite the blacklist: during the session, or by name against a built-in
   * rule. They win over the blacklist only.
   */
  readonly granted?: ReadonlyArray<Rule>
  /** The granted paths that the whitelist names as well, so that they may be written. */
  readonly opened?: ReadonlyArray<Rule>
  /**
   * Paths that stay readable inside whitelisted places. If given, each whitelisted place is the sandbox's own and
   * starts empty, instead of the outside place of that name.
   */
  readonly shown?: ReadonlyArray<Rule>
  /** Synapse's own files that may be read, although the blacklist hides their directories (source `own`). */
  readonly visible?: ReadonlyArray<Rule>
  readonly allowNetwork: false
  /** True if `sandbox.json` asks for a network although there is none; people are told so. */
  readonly asksForNetwork?: true
  /** The hosts that commands may and may not reach; undefined if none. */
  readonly hosts?: Hosts
  /** Ports to open on the machine's localhost. */
  readonly published?: ReadonlyArray<Published>
  /**
   * Allows unix sockets. `true` allows all, including those of programs outside of the sandbox. `"own"` allows the
   * sandbox's own and those that `granted` names.
   */
  readonly unixSockets?: true | "own"
  /**
   * The directory for tools' caches. It is writable even inside a read-only directory. Blacklist patterns are not
   * searched for in it, because commands wrote everything in it.
   */
  readonly toolCache?: Rule
  /**
   * The private directory that replaces `/tmp` and the system's temporary directory, both of which the whitelist names.
   * Without it, commands share the system's.
   */
  readonly temporary?: Rule
  /** The most processes and threads at a time, if the user sets a limit. */
  readonly processes?: number
  /** The most memory of all processes together with swap, in MiB, if the user sets a limit. */
  readonly memory?: number
  /** The size of `/dev/shm` in MiB, if the user sets a limit. */
  readonly sharedMemory?: number
  /** True if no user follows the session, as for a sub-agent, which reports in its answer what it could not do. */
  readonly unattended?: true
  /** Variables that the user lets through, besides those that every sandbox gets. */
  readonly environment?: ReadonlyArray<string>
  /** True if commands get the variables of the user's login shell, except secrets. */
  readonly profile?: true
}

/**
 * Returns the real path of a rule.
 *
 * @since 0.1.0
 * @internal
 */
export const realOf = ({ path, real = path }: Pick<Rule, "path" | "real">): string => real

/**
 * Returns the rules of all places that commands may write, for messages to users and models.
 *
 * @since 0.1.0
 */
export const writable = ({
  toolCache,
  whitelist
}: Pick<SandboxPolicy, "toolCache" | "whitelist">): ReadonlyArray<Rule> =>
  toolCache === undefined ? whitelist : [...whitelist, toolCache]

/**
 * Returns a remark for the statement that there is no network, if `sandbox.json` asks for one; else an empty string.
 *
 * @since 0.1.0
 */
export const networkRemark = ({ asksForNetwork }: Pick<SandboxPolicy, "asksForNetwork">): string =>
  asksForNetwork === true
    ? " (`allowNetwork: true` in sandbox.json has no effect: name the hosts in `allowedHosts`, or start with `--allow-network`)"
    : ""
