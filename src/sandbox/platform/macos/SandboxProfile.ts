/**
 * Writes a policy as a profile for `sandbox-exec`. The last clause that matches decides: so denials follow what is
 * allowed. A clause without a filter applies to everything, and is written only where this is meant.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as PolicyDecision from "../../policy/PolicyDecision.js"
import type { Rule, SandboxPolicy } from "../../policy/SandboxPolicy.js"
import { regex, string } from "./ProfileText.js"

/**
 * A profile, and the rules that its clauses stand for.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxProfile {
  readonly text: string
  /** The rules, by the tags that the system's log repeats where a clause denies. */
  readonly rules: ReadonlyMap<string, Rule>
}

/** Clauses that a shell and its programs need, and that tell them nothing about other processes. */
const essentials = [
  '(allow process-exec (subpath "/"))',
  "(allow process-fork)",
  "(allow process-info* (target same-sandbox))",
  "(allow signal (target same-sandbox))",
  // The names of semaphores can't be known in advance; semaphores carry no data.
  "(allow ipc-posix-sem)",
  clause("(allow sysctl-read", [
    ...["hw.", "kern.os", "kern.proc.pgrp.", "kern.proc.pid.", "machdep.cpu."].map(
      (name) => `(sysctl-name-prefix "${name}")`
    ),
    ...["kern.argmax", "kern.boottime", "kern.hostname", "kern.maxfilesperproc", "kern.maxproc", "kern.ngroups"].map(
      named
    ),
    ...["kern.secure_kernel", "kern.usrstack64", "kern.version", "sysctl.proc_cputype", "vm.loadavg"].map(named)
  ]),
  clause("(allow mach-lookup", [
    '(global-name "com.apple.bsd.dirhelper")',
    '(global-name "com.apple.system.notification_center")',
    '(global-name "com.apple.system.opendirectoryd.libinfo")',
    '(global-name "com.apple.system.opendirectoryd.membership")'
  ]),
  '(allow file-read* (subpath "/"))',
  clause("(allow file-write-data file-ioctl", [
    '(literal "/dev/null")',
    '(literal "/dev/zero")',
    '(literal "/dev/dtracehelper")'
  ])
]

function named(name: string): string {
  return `(sysctl-name "${name}")`
}

/** Writes a clause; empty where there is no filter, for the clause would apply to everything. */
function clause(head: string, filters: ReadonlyArray<string>): string {
  return filters.length === 0 ? "" : `${head}\n  ${filters.join("\n  ")})`
}

const linked = /^\/(tmp|var|etc)(?=\/|$)/

/**
 * Returns all names that the kernel may know a path by: `/tmp`, `/var` and `/etc` are links, and letters have two
 * encodings.
 */
const namesOf = (path: string): ReadonlyArray<string> => {
  const both = linked.test(path) ? [path, path.replace(linked, "/private/$1")] : [path]
  return [...new Set(both.flatMap((each) => [each, each.normalize("NFC"), each.normalize("NFD")]))]
}

const placesOf = ({ path, real }: Rule): ReadonlyArray<string> => [
  ...new Set([...namesOf(path), ...(real === undefined ? [] : namesOf(real))])
]

const filtersOf = (rule: Rule): ReadonlyArray<string> =>
  placesOf(rule).map((place) => (rule.kind === "glob" ? `(regex ${regex(place)})` : `(subpath ${string(place)})`))

/**
 * Writes the profile of a policy. `directory` is the session's: the shell writes to the FIFOs in it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (policy: SandboxPolicy, directory?: string): SandboxProfile => {
  const rules = new Map<string, Rule>()
  const tag = (kind: string, rule: Rule, at: number): string => {
    const id = `synapse:${kind}:${at}`
    rules.set(id, rule)
    return `(with message "${id}")`
  }
  const deny = (operations: string, kind: string) => (rule: Rule, at: number) =>
    clause(`(deny ${operations} ${tag(kind, rule, at)}`, filtersOf(rule))
  const pin = (rule: Rule, at: number) => {
    const ancestors = placesOf(rule).flatMap((place) => ancestorsIn(policy, place))
    return clause(
      `(deny file-write-unlink ${tag("pin", rule, at)}`,
      [...new Set(ancestors)].map((ancestor) => `(literal ${string(ancestor)})`)
    )
  }
  const clauses = [
    "(version 1)",
    '(deny default (with message "synapse:default"))',
    ...essentials,
    clause(
      "(allow file-write-data",
      directory === undefined ? [] : namesOf(directory).map((name) => `(subpath ${string(name)})`)
    ),
    clause("(allow file-write*", policy.whitelist.flatMap(filtersOf)),
    ...policy.readonly.map(deny("file-write*", "readonly")),
    clause("(allow file-write*", policy.toolCache === undefined ? [] : filtersOf(policy.toolCache)),
    // A directory that holds a blacklisted path can't be renamed: under another name, no rule would cover the path.
    ...policy.blacklist.map((rule, at) => (rule.kind === "path" ? pin(rule, at) : "")),
    ...policy.blacklist.map(deny("file-read* file-write*", "blacklist")),
    ...grants(policy),
    "(deny network*)",
    policy.unixSockets === true
      ? "(allow network-outbound (remote unix-socket))\n(allow network-bind (local unix-socket))"
      : ""
  ]
  return { text: `${clauses.filter((each) => each !== "").join("\n")}\n`, rules }
}

/** Returns the directories that a path lies in, as far as they can be written. */
const ancestorsIn = ({ whitelist }: SandboxPolicy, path: string): ReadonlyArray<string> => {
  const roots = whitelist.filter(({ kind }) => kind === "path").flatMap(placesOf)
  const found: Array<string> = []
  for (let at = Path.posix.dirname(path); at !== "/"; at = Path.posix.dirname(at)) {
    if (roots.some((root) => at === root || at.startsWith(`${root}/`))) found.push(at)
  }
  return found
}

/** Allows what a person allowed against the blacklist. It becomes writable only where another rule allows that. */
const grants = (policy: SandboxPolicy): ReadonlyArray<string> => {
  const { decide } = PolicyDecision.make(policy)
  const granted = policy.granted ?? []
  const writable = granted.filter(({ path, real }) => decide(real ?? path, "write").allowed)
  return [
    clause("(allow file-read*", granted.flatMap(filtersOf)),
    clause("(allow file-write*", writable.flatMap(filtersOf))
  ]
}
