/**
 * A denial by the sandbox's policy, and the evidence for it.
 */

import * as Listeners from "../../session/Listeners.js"
import type { Refused } from "../network/Gateway.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as Name from "../policy/Name.js"
import { notWhitelisted } from "../policy/PolicyDecision.js"
import type { Rule, RuleSource } from "../policy/SandboxPolicy.js"
import { withPort } from "./internal/Message.js"
import type * as SystemCalls from "./internal/SystemCalls.js"

/**
 * The evidence for a denial. `preflight`: the command's words show it before it runs. `verified-text`: a message says
 * it, and the policy (or the kernel's network counters) confirms it. `counter`: the kernel counted it, but no message
 * says what it was. `event`: the sandbox's own network refused it.
 */
export type Evidence = "preflight" | "verified-text" | "counter" | "event"

/** An access that the policy denied, with the rule and the evidence. */
export interface Denial {
  /** The real path, or the host that a message names. Without a name, `network` or `a unix socket`. */
  readonly resource: string
  /** `system`: a system call that no command may make. */
  readonly access: "read" | "write" | "network" | "system"
  /** The rule as written, or the name of a built-in rule: `not whitelisted`, `allowNetwork: false`. */
  readonly rule: string
  readonly source: RuleSource
  readonly reason: string
  readonly how: Evidence
  /** True if a message shows that only a regular file was to be created or written. */
  readonly isOfFile?: true
  /**
   * True if a program met the file while walking directories and the command does not name it. Nobody is asked then.
   */
  readonly isMet?: true
  /** True if the path is allowed. `reason` says why commands can't write it all the same. */
  readonly isAllowed?: true
  /** True if something in the directory was to be replaced, moved or removed. */
  readonly isOfEntry?: true
  /** The entry that would allow the host. */
  readonly grant?: string | undefined
  /** What to do instead, for a rule that is not on a list. */
  readonly next?: string
  /** The tool whose configuration names the hosts that it may have needed, for a denial without a host. */
  readonly tool?: string | undefined
}

/** The rule of a file of the machine's `/tmp` that commands may read. */
export const readOnly = "allowed to be read only"

export const make = (
  { rule, reason }: { readonly rule: Rule; readonly reason: string },
  resource: string,
  access: "read" | "write",
  how: Evidence
): Denial => ({ resource, access, rule: rule.pattern, source: rule.source, reason, how })

/** Makes the denial of a path that is allowed but does not exist: nothing can be mounted in its place. */
export const unmade = (resource: string): Denial => ({
  resource,
  access: "write",
  rule: resource,
  source: "default",
  reason: "it does not exist, so that it has to be made outside of the sandbox",
  how: "verified-text",
  isAllowed: true,
  next: "Ask the user to create it, then call with restart: true."
})

/** Makes the denial of replacing, moving or removing an allowed path itself, which the sandbox has mounted. */
export const mounted = (resource: string): Denial => ({
  ...unmade(resource),
  reason: "as a mount point of the sandbox, it can be neither replaced, moved nor removed",
  next: "Ask the user to do it."
})

/** The longest duration of one search for denials, in ms. */
const mostTime = 50

/**
 * Begins a search, and returns a test for whether its time is over, by both the wall clock and the processor's time. On
 * a busy machine, the wall clock alone would mislead; in a busy process, the processor's. The time starts with the
 * first test.
 */
export const searching = (): (() => boolean) => {
  let began: { readonly clock: number; readonly processor: NodeJS.CpuUsage } | undefined
  return () => {
    began ??= { clock: performance.now(), processor: process.cpuUsage() }
    if (performance.now() - began.clock <= mostTime) return false
    const { system, user } = process.cpuUsage(began.processor)
    return system + user > mostTime * 1000
  }
}

const noNetwork = "allowNetwork: false"
const anyHost = "network"
const unixSockets = "no unix sockets"
const anySocket = "a unix socket"

/** Makes the denial of the network, or of a host that a message names. */
export const network = (how: Evidence, host = anyHost): Denial => ({
  resource: host,
  access: "network",
  rule: noNetwork,
  source: "default",
  reason: "no network but the sandbox's own loopback",
  how
})

/** Makes the denial of a host that the sandbox's network refused. The command and its output may name the port. */
export const host = ({ grant, host: name, port, reason, rule }: Refused, command = "", said = ""): Denial => {
  const resource = port === undefined ? withPort(name, command, said) : `${name}:${port}`
  return {
    resource,
    access: "network",
    rule: rule?.pattern ?? HostEntry.unnamed,
    source: rule?.source ?? "default",
    reason,
    how: "event",
    grant: grant === name ? resource : grant
  }
}

/** Makes the denial of a server on the machine's localhost, which a command looked for on the sandbox's own. */
export const machine = (port: number): Denial =>
  host({ host: "localhost", port, rule: undefined, reason: HostEntry.notInside, grant: `localhost:${port}` })

/** Makes the denial of a system call. `path` is the unix socket that a message names. */
export const system = ({ next, reason, rule, what }: SystemCalls.Refusal, path = anySocket): Denial => ({
  resource: rule === unixSockets ? path : what,
  access: rule === unixSockets ? "network" : "system",
  rule,
  source: "default",
  reason,
  how: "verified-text",
  next
})

export const isSocket = ({ rule, source }: Denial): boolean => rule === unixSockets && source === "default"

/** Tests whether a denial is of the network or a unix socket that no message names. */
export const isNameless = ({ access, resource }: Pick<Denial, "access" | "resource">): boolean =>
  access === "network" && (resource === anyHost || resource === anySocket)

/** Tests whether a write was denied because no rule allows it. */
export const isUnlisted = ({ rule }: Pick<Denial, "rule">): boolean => rule === notWhitelisted.pattern

/** Names what was denied (`Name`): a path, a host, or a phrase if it is unknown. */
export const nameOf = (denial: Pick<Denial, "access" | "resource">): string => {
  if (denial.access === "system") return denial.resource
  if (denial.access !== "network") return Name.of(denial.resource)
  return isNameless(denial) ? denial.resource : Name.ofEntry(denial.resource)
}

/** Names the rule of a denial (`Name`): a list entry, or a phrase for a built-in rule. */
export const ruleOf = ({ rule, source }: Pick<Denial, "rule" | "source">): string =>
  source === "default" ? rule.replace(/^.* .*$/, '"$&"') : Name.ofEntry(rule)

/** Says what a denial refused: `/x is read-only`. */
export const whatOf = (denial: Denial): string => {
  const name = nameOf(denial)
  if (denial.how === "event") return `${name} is not allowed: ${denial.reason}`
  if (denial.access === "network" && !isSocket(denial)) {
    return isNameless(denial) ? "there is no network" : `there is no network, so ${name} can't be reached`
  }
  if (denial.isAllowed) return `${name} is allowed, but ${denial.reason}`
  const why = denial.isOfEntry ? ": to replace, move or remove a file takes its directory" : ""
  if (denial.rule === readOnly) return `${name} is ${readOnly}`
  return isUnlisted(denial)
    ? `${name} is read-only${why}`
    : `${name} is blocked by rule ${ruleOf(denial)}: ${denial.reason}`
}

const refused = /connection refused|ECONNREFUSED|ConnectionRefused|couldn't connect|could not connect/i
const place = /(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|::1)[)\]"',:\s/]{1,5}(?:port )?(\d{2,5})\b/g
const most = 5
const mostExamined = 64 * 1024

/** Returns the ports with a listener on this machine. */
const ports = (): ReadonlySet<number> => new Set(Listeners.portsOf(Listeners.read("self")))

/** Tests for the exit codes of a failed connection by curl and wget, which may print no error. */
const isUnconnected = (command: string, exitCode: number): boolean =>
  (exitCode === 7 && /\bcurl\b/.test(command)) || (exitCode === 4 && /\bwget\b/.test(command))

/** Returns the port of a server on this machine, if a refusal or the command names it. */
export const findMachineServer = (
  command: string,
  text: string,
  exitCode: number,
  listed: () => ReadonlySet<number> = ports
): number | undefined => {
  const said = text.slice(-mostExamined)
  if (!refused.test(said) && !isUnconnected(command, exitCode)) return undefined
  const named = [said, command.slice(0, mostExamined)].flatMap((text) =>
    Array.from(text.matchAll(place), ([, port]) => Number(port))
  )
  if (named.length === 0) return undefined
  const there = listed()
  return named.slice(0, most).find((port) => there.has(port))
}
