/**
 * What a sandboxed command may do: data, with the source of every rule.
 *
 * Whitelist: read and write. Blacklist: neither, and it wins over the whitelist. Everything else: read only. No network.
 *
 * @since 0.1.0
 */

/**
 * Where a rule comes from. `default`, `file` (sandbox.json), `user` (a setting or a flag), `runtime` (added while running),
 * `cwd` and `tmp` (what every policy allows), `own` (what Synapse protects of itself).
 *
 * @since 0.1.0
 * @category models
 */
export type RuleSource = "default" | "file" | "user" | "runtime" | "cwd" | "tmp" | "own"

/**
 * A rule about a path, or about all paths that a pattern matches.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule {
  /** As it was written: this is what users and models are told. */
  readonly pattern: string
  /** Absolute, with `~` and variables expanded, not resolved through symbolic links; for a glob, the pattern to match. */
  readonly path: string
  readonly kind: "path" | "glob"
  readonly source: RuleSource
  /** Where `path` led when the policy was built: there only where symbolic links made that another one. */
  readonly real?: string
}

/**
 * What a sandbox may do.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxPolicy {
  /** The directory the sandbox is for. */
  readonly cwd: string
  readonly whitelist: ReadonlyArray<Rule>
  readonly blacklist: ReadonlyArray<Rule>
  /** Readable, but never writable, whitelisted or not: the policy's own file, the program's own directory. */
  readonly readonly: ReadonlyArray<Rule>
  /** What a person allowed against the blacklist while running: exact paths, which win over it, and over nothing else. */
  readonly granted?: ReadonlyArray<Rule>
  readonly allowNetwork: false
}
