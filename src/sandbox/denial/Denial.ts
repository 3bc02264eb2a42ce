/**
 * Something that the sandbox's policy denied, and how that is known.
 *
 * @since 0.1.0
 */
import type { Rule, RuleSource } from "../policy/SandboxPolicy.js"

/**
 * How a denial is known. `preflight`: read in the command, before it ran. `verified-text`: a tool said so, and the policy
 * (for the network: the kernel's counters) confirms it. `counter`: the kernel counted it, and no text says what it was.
 *
 * @since 0.1.0
 * @category models
 */
export type Evidence = "preflight" | "verified-text" | "counter"

/**
 * Something that the policy denied.
 *
 * @since 0.1.0
 * @category models
 */
export interface Denial {
  /** The real path; for the network the host where a message names it, else `network`. */
  readonly resource: string
  readonly access: "read" | "write" | "network"
  /** The rule as it was written; `not whitelisted` where no rule allows a write, `allowNetwork: false` for the network. */
  readonly rule: string
  readonly source: RuleSource
  readonly reason: string
  readonly how: Evidence
}

/**
 * Makes a denial of a path by a rule.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  { rule, reason }: { readonly rule: Rule; readonly reason: string },
  resource: string,
  access: "read" | "write",
  how: Evidence
): Denial => ({ resource, access, rule: rule.pattern, source: rule.source, reason, how })

/**
 * Makes a denial of the network.
 *
 * @since 0.1.0
 * @category constructors
 */
export const network = (host: string | undefined): Denial => ({
  resource: host ?? "network",
  access: "network",
  rule: "allowNetwork: false",
  source: "default",
  reason: "no network but the sandbox's own loopback",
  how: host === undefined ? "counter" : "verified-text"
})
