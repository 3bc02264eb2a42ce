/** A denial by the sandbox's policy, and the evidence for it. */

import * as Name from "../policy/Name.js"
import type { Rule, RuleSource } from "../policy/SandboxPolicy.js"

/**
 * The evidence for a denial. `preflight`: the command's words tell it before it runs. `verified-text`: a message tells
 * it, and the policy (for the network: the kernel's counters) confirms it. `counter`: the kernel counted it, and no
 * message tells what it was.
 */
export type Evidence = "preflight" | "verified-text" | "counter"

/** An access that the policy denied, with the rule and the evidence. */
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

/** Makes the denial of a path by a rule. */
export const make = (
  { rule, reason }: { readonly rule: Rule; readonly reason: string },
  resource: string,
  access: "read" | "write",
  how: Evidence
): Denial => ({ resource, access, rule: rule.pattern, source: rule.source, reason, how })

/** Makes the denial of the network, or of a host that a message names. */
export const network = (how: Evidence, host = "network"): Denial => ({
  resource: host,
  access: "network",
  rule: "allowNetwork: false",
  source: "default",
  reason: "no network but the sandbox's own loopback",
  how
})

/** Makes the denial of a unix socket, or of the one that a message names. */
export const socket = (path = unknownSocket): Denial => ({
  resource: path,
  access: "network",
  rule: unixSockets,
  source: "default",
  reason: "they would reach programs outside of the sandbox",
  how: "verified-text"
})

/** The rule that denies unix sockets, as messages name it. */
export const unixSockets = "no unix sockets"

/** The words for a unix socket that no message names. */
const unknownSocket = "a unix socket"

/** Writes what a denial is of (`Name`): a path, a host, or the words that stand for one that is not known. */
export const nameOf = ({ access, resource }: Pick<Denial, "access" | "resource">): string => {
  if (access !== "network") return Name.of(resource)
  return resource === unknownSocket ? resource : Name.ofEntry(resource)
}

/** Writes the rule of a denial (`Name`): an entry of a list, or the words for what no entry says. */
export const ruleOf = ({ rule, source }: Pick<Denial, "rule" | "source">): string =>
  source === "default" ? rule : Name.ofEntry(rule)
