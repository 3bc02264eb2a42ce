/**
 * A denial by the sandbox's policy, and the evidence for it.
 *
 * @since 0.1.0
 */
import type { Rule, RuleSource } from "../policy/SandboxPolicy.js"

/**
 * The evidence for a denial. `preflight`: the command's words tell it before it runs. `verified-text`: a message tells
 * it, and the policy (for the network: the kernel's counters) confirms it. `counter`: the kernel counted it, and no
 * message tells what it was.
 *
 * @since 0.1.0
 * @category models
 */
export type Evidence = "preflight" | "verified-text" | "counter"

/**
 * An access that the policy denied, with the rule and the evidence.
 *
 * @since 0.1.0
 * @category models
 */
export interface Denial {
  /** The real path; for the network, the host where a message names it, or else `network`. */
  readonly resource: string
  readonly access: "read" | "write" | "network"
  /**
   * The rule as it was written; `not whitelisted` where no rule allows a write, `allowNetwork: false` for the network,
   * `no unix sockets` for these.
   */
  readonly rule: string
  readonly source: RuleSource
  readonly reason: string
  readonly how: Evidence
  /** True where a message tells that a regular file was to be made, or written, and nothing else. */
  readonly isOfFile?: true
}

/**
 * Makes the denial of a path by a rule.
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
 * Makes the denial of the network, or of a host that a message names.
 *
 * @since 0.1.0
 * @category constructors
 */
export const network = (how: Evidence, host = "network"): Denial => ({
  resource: host,
  access: "network",
  rule: "allowNetwork: false",
  source: "default",
  reason: "no network but the sandbox's own loopback",
  how
})

/**
 * Makes the denial of a unix socket, or of the one that a message names.
 *
 * @since 0.1.0
 * @category constructors
 */
export const socket = (path = "a unix socket"): Denial => ({
  resource: path,
  access: "network",
  rule: unixSockets,
  source: "default",
  reason: "they would reach programs outside of the sandbox",
  how: "verified-text"
})

/**
 * The rule that denies unix sockets, as messages name it.
 *
 * @since 0.1.0
 */
export const unixSockets = "no unix sockets"
