/**
 * The policy of a sandbox: rules that say what its commands may read and write, each with its source.
 *
 * Whitelist: read and write. Blacklist: neither; it wins over the whitelist. Everything else: read only. No network but the
 * hosts that are allowed by name.
 *
 * @since 0.1.0
 */
import type { Hosts } from "./HostEntry.js"

/**
 * The source of a rule: `default` (built in), `file` (`sandbox.json`), `user` (a setting or a flag), `runtime` (added
 * by the session), `cwd` and `tmp` (the directories that every policy allows), `own` (Synapse's own files), `trust` (files
 * that the user trusts as programs of MCP servers), `cache` (the directory for the caches of tools), `git` (the repository of
 * the working directory, where it lies outside), `startup` (files that
 * the user's own tools run or load), `socket` (where programs outside listen).
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
 * A rule for a path, or for all paths that a pattern matches.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule {
  /** The entry as it was written: messages to users and models name it. */
  readonly pattern: string
  /**
   * An absolute path, with `~` and variables expanded and symbolic links not resolved; for a glob, the pattern to
   * match.
   */
  readonly path: string
  readonly kind: "path" | "glob"
  readonly source: RuleSource
  /** `empty`: commands read the files that it names as empty ones, instead of being refused. */
  readonly hidden?: "empty"
  /**
   * The path that `path` led to when the policy was built; present only where symbolic links made it a different one.
   */
  readonly real?: string
  /** True for the working directory where the user has allowed it by name as well. */
  readonly isNamed?: true
}

/**
 * A port of a server in the sandbox, and the port of the machine that leads to it.
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
   * Paths that may be read and never written, whitelisted or not: the policy's own file, the program's own directory.
   */
  readonly readonly: ReadonlyArray<Rule>
  /**
   * Exact paths that a person allowed to read although they are on the blacklist: during the session, or by name where a
   * built-in rule hides them. They win over the blacklist only.
   */
  readonly granted?: ReadonlyArray<Rule>
  /** Those of the granted paths that the whitelist names as well, so that they are written. */
  readonly opened?: ReadonlyArray<Rule>
  /**
   * Paths that are read, also where they lie in a place of the whitelist. Where they are given, each place of the whitelist
   * is the sandbox's own, empty at first: it is not the place of that name outside.
   */
  readonly shown?: ReadonlyArray<Rule>
  /** What is read of Synapse's own files, whose directories the blacklist hides (source `own`). */
  readonly visible?: ReadonlyArray<Rule>
  readonly allowNetwork: false
  /** Tells that `sandbox.json` asks for a network all the same, of which people are told. */
  readonly asksForNetwork?: true
  /** The hosts that commands may reach, and those that they may not; undefined where they may reach none. */
  readonly hosts?: Hosts
  /** The ports that are opened on the machine's localhost. */
  readonly published?: ReadonlyArray<Published>
  /**
   * Tells that commands may use unix sockets: all of them, by which they reach programs outside of the sandbox, or their own
   * and those that `granted` names.
   */
  readonly unixSockets?: true | "own"
  /**
   * The directory that commands have for the caches of tools. It may be written although it lies in a directory that may
   * not, and patterns of the blacklist are not looked for in it: all that it holds was written by commands.
   */
  readonly toolCache?: Rule
  /**
   * The directory that commands have in the place of `/tmp` and of the system's directory for temporary files, which
   * the whitelist names; without it, they share the system's.
   */
  readonly temporary?: Rule
  /** The most processes and threads that commands have at a time, where the user names a number. */
  readonly processes?: number
  /** The most MiB of `/dev/shm`, where the user names a number. */
  readonly sharedMemory?: number
  /** Tells that no user follows the session, as a sub-agent's: what it can't do, it says in its answer. */
  readonly unattended?: true
  /** Names of the variables that the user lets through, besides those that every sandbox gets. */
  readonly environment?: ReadonlyArray<string>
  /** Tells that commands get the variables of the user's login shell, but for secrets. */
  readonly profile?: true
}

/**
 * Returns the rules of all places that commands may write, as users and models are told them.
 *
 * @since 0.1.0
 */
export const writable = ({
  toolCache,
  whitelist
}: Pick<SandboxPolicy, "toolCache" | "whitelist">): ReadonlyArray<Rule> =>
  toolCache === undefined ? whitelist : [...whitelist, toolCache]

/**
 * Returns the remark beside the statement that there is no network, where `sandbox.json` asks for one; empty otherwise.
 *
 * @since 0.1.0
 */
export const networkRemark = ({ asksForNetwork }: Pick<SandboxPolicy, "asksForNetwork">): string =>
  asksForNetwork === true
    ? " (`allowNetwork: true` in sandbox.json has no effect: name the hosts in `allowedHosts`, or start with `--allow-network`)"
    : ""
