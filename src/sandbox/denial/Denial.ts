/** A denial by the sandbox's policy, and the evidence for it. */

import * as Listeners from "../../session/Listeners.js"
import type { Refused } from "../network/Gateway.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as Name from "../policy/Name.js"
import { notWhitelisted } from "../policy/PolicyDecision.js"
import type { Rule, RuleSource } from "../policy/SandboxPolicy.js"
import { withPort } from "./internal/Message.js"
import type * as SystemCalls from "./internal/SystemCalls.js"

/**
 * The evidence for a denial. `preflight`: the command's words tell it before it runs. `verified-text`: a message tells
 * it, and the policy (for the network: the kernel's counters) confirms it. `counter`: the kernel counted it, and no
 * message tells what it was. `event`: the sandbox's own network refused it.
 */
export type Evidence = "preflight" | "verified-text" | "counter" | "event"

/** An access that the policy denied, with the rule and the evidence. */
export interface Denial {
  /** The real path, or the host that a message names. Without a name it is `network` or `a unix socket`. */
  readonly resource: string
  /** `system`: a system call that no command may make. */
  readonly access: "read" | "write" | "network" | "system"
  /** The rule as it was written, or the name of a rule that is not written: `not whitelisted`, `allowNetwork: false`. */
  readonly rule: string
  readonly source: RuleSource
  readonly reason: string
  readonly how: Evidence
  /** True where a message tells that a regular file was to be made, or written, and nothing else. */
  readonly isOfFile?: true
  /** True where a program met the file on its way through directories, and the command does not name it: nobody is asked. */
  readonly isMet?: true
  /** True where the path is allowed, and does not exist. */
  readonly isUnmade?: true
  /** The entry that would allow the host. */
  readonly grant?: string | undefined
  /** What to do instead, where the rule is not of a list. */
  readonly next?: string
}

/** Makes the denial of a path by a rule. */
export const make = (
  { rule, reason }: { readonly rule: Rule; readonly reason: string },
  resource: string,
  access: "read" | "write",
  how: Evidence
): Denial => ({ resource, access, rule: rule.pattern, source: rule.source, reason, how })

/** Makes the denial of a path that is allowed, and does not exist: nothing can be mounted in its place. */
export const unmade = (resource: string): Denial => ({
  resource,
  access: "write",
  rule: resource,
  source: "default",
  reason: "it does not exist, so that it has to be made outside of the sandbox",
  how: "verified-text",
  isUnmade: true,
  next: "Ask the user to create it, then call with restart: true."
})

/** The most milliseconds that one search for denials takes. */
const mostTime = 50

/**
 * Begins a search, and returns a test whether it has taken its time, by the clock and by the processor's: on a busy machine, the
 * first tells nothing of the search, and in a busy process the second. The time begins with the first test.
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

/** Makes the denial of a host that the sandbox's network refused; the command and what it said may name the port. */
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

/** Makes the denial of a server on the machine's localhost, which a command has looked for at the sandbox's own. */
export const machine = (port: number): Denial => {
  const reason = "the machine has a server there, and inside, localhost is the sandbox's own"
  return host({ host: "localhost", port, rule: undefined, reason, grant: `localhost:${port}` })
}

/** Makes the denial of a system call. Of a unix socket, `path` is the one that a message names. */
export const system = ({ next, reason, rule, what }: SystemCalls.Refusal, path = anySocket): Denial => ({
  resource: rule === unixSockets ? path : what,
  access: rule === unixSockets ? "network" : "system",
  rule,
  source: "default",
  reason,
  how: "verified-text",
  next
})

/** Tests whether a denial is of a unix socket. */
export const isSocket = ({ rule, source }: Denial): boolean => rule === unixSockets && source === "default"

/** Tests whether a denial is of the network or a unix socket that no message names. */
export const isNameless = ({ access, resource }: Pick<Denial, "access" | "resource">): boolean =>
  access === "network" && (resource === anyHost || resource === anySocket)

/** Tests whether a write was denied because no rule allows it. */
export const isUnlisted = ({ rule }: Pick<Denial, "rule">): boolean => rule === notWhitelisted.pattern

/** Writes what a denial is of (`Name`): a path, a host, or the words that stand for one that is not known. */
export const nameOf = (denial: Pick<Denial, "access" | "resource">): string => {
  if (denial.access === "system") return denial.resource
  if (denial.access !== "network") return Name.of(denial.resource)
  return isNameless(denial) ? denial.resource : Name.ofEntry(denial.resource)
}

/** Writes the rule of a denial (`Name`): an entry of a list, or the words for what no entry says. */
export const ruleOf = ({ rule, source }: Pick<Denial, "rule" | "source">): string =>
  source === "default" ? rule.replace(/^.* .*$/, '"$&"') : Name.ofEntry(rule)

/** Writes what a denial refused: `/x is read-only`. */
export const whatOf = (denial: Denial): string => {
  const name = nameOf(denial)
  if (denial.how === "event") return `${name} is not allowed: ${denial.reason}`
  if (denial.access === "network" && !isSocket(denial)) {
    return isNameless(denial) ? "there is no network" : `there is no network, so ${name} can't be reached`
  }
  if (denial.isUnmade) return `${name} is allowed, but ${denial.reason}`
  return isUnlisted(denial) ? `${name} is read-only` : `${name} is blocked by rule ${ruleOf(denial)}: ${denial.reason}`
}

const refused = /connection refused|ECONNREFUSED|ConnectionRefused|couldn't connect|could not connect/i
const place = /(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|::1)[)\]"',:\s/]{1,5}(?:port )?(\d{2,5})\b/g
const most = 5
const mostExamined = 64 * 1024

/** Returns the ports that something on this machine listens at. */
const ports = (): ReadonlySet<number> => new Set(Listeners.portsOf(Listeners.read("self")))

/** Tests for the exit codes by which curl and wget tell that they did not connect, where they were told to say nothing. */
const isUnconnected = (command: string, exitCode: number): boolean =>
  (exitCode === 7 && /\bcurl\b/.test(command)) || (exitCode === 4 && /\bwget\b/.test(command))

/** Returns the port of a server of this machine's own that a refusal and the words around it, or the command, name. */
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
