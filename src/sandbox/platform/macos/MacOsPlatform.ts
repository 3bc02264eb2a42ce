/**
 * The sandbox of macOS: `sandbox-exec`, with the policy written as its profile.
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as DefaultSecrets from "../../policy/DefaultSecrets.js"
import type { Member, Piece } from "../../policy/GlobPattern.js"
import { parsePath } from "../../policy/GlobPattern.js"
import * as HostPath from "../../policy/HostPath.js"
import * as PolicyDecision from "../../policy/PolicyDecision.js"
import { type Rule, realOf, type SandboxPolicy } from "../../policy/SandboxPolicy.js"
import * as Environment from "../Environment.js"
import { SandboxPlatform } from "../SandboxPlatform.js"
import * as ToolCache from "../ToolCache.js"

/** Prints a string literal in Scheme's syntax. */
export const string = (text: string): string =>
  `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")}"`

/**
 * Matches characters that can't be written in `#"…"`, which has no escapes. They are printed as a wildcard for any
 * character.
 */
const unwritable = /["\x00-\x1f\x7f]/
const special = /[\\^$.*+?()[\]{}|]/
/** Matches a character of several bytes, whether expressions match bytes or characters. */
const long = "[^/ -~][^/ -~][^/ -~]?[^/ -~]?"
const any = `([^/]|${long})`

/** Prints a character so that both cases match, because macOS file systems ignore case. */
const literal = (char: string): string => {
  if (unwritable.test(char)) return "[^/]"
  if (/[a-z]/i.test(char)) return `[${char.toLowerCase()}${char.toUpperCase()}]`
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()]
  if (lower !== upper)
    return `(${[...new Set([lower, upper, lower.normalize("NFD"), upper.normalize("NFD")])].join("|")})`
  return special.test(char) ? `\\${char}` : char
}

/** Prints a member of brackets; undefined if it can't be written exactly. */
const printMember = (member: Member): string | undefined => {
  if (member._tag === "Named") return undefined
  if (member._tag === "Single") return literal(member.char)
  const { from, to } = member
  if (/^\d\d$/.test(from + to)) return `[${from}-${to}]`
  if (!/^(?:[a-z]{2}|[A-Z]{2})$/.test(from + to)) return undefined
  return `[${from.toLowerCase()}-${to.toLowerCase()}${from.toUpperCase()}-${to.toUpperCase()}]`
}

/**
 * Prints a bracket expression as alternatives, so that no character in it gets a special meaning. What can't be written
 * exactly matches any character: that denies too much, never too little.
 */
const printBrackets = (negated: boolean, members: ReadonlyArray<Member>): string => {
  const parts = members.filter((member) => member._tag !== "Single" || member.char !== "/").map(printMember)
  if (parts.length === 0 || parts.includes(undefined)) return any
  if (!negated) return `(${parts.join("|")})`
  const simple = parts.map((part) => /^\[([a-z\d-]+)\]$|^(\w)$/i.exec(part ?? ""))
  return simple.includes(null) ? any : `([^/${simple.map((part) => part?.[1] ?? part?.[2]).join("")}]|${long})`
}

const printPiece = (piece: Piece): string => {
  switch (piece._tag) {
    case "Literal":
      return Array.from(piece.text, literal).join("")
    case "AnyCharacter":
      return any
    case "AnyText":
      return "[^/]*"
    case "Brackets":
      return printBrackets(piece.negated, piece.members)
  }
}

/**
 * Prints the expression for all paths that an absolute pattern without alternatives matches, and everything below them.
 * It is anchored on both sides, and uses only the syntax that all dialects share.
 */
export const regex = (pattern: string): string => {
  const source = parsePath(pattern).map((part) =>
    part._tag === "AnyDirectories" ? "(/[^/]+)*" : `/${part.pieces.map(printPiece).join("")}`
  )
  return `#"^${source.join("")}($|/)"`
}

/** Clauses that a shell and its programs need, and that reveal nothing about other processes. */
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

/** Writes a clause; empty without filters, because the clause would then apply to everything. */
function clause(head: string, filters: ReadonlyArray<string>): string {
  return filters.length === 0 ? "" : `${head}\n  ${filters.join("\n  ")})`
}

const linked = /^\/(tmp|var|etc)(?=\/|$)/

/**
 * Returns all names by which the kernel may know a path: `/tmp`, `/var` and `/etc` are links, and letters have two
 * encodings.
 */
const namesOf = (path: string): ReadonlyArray<string> => {
  const both = linked.test(path) ? [path, path.replace(linked, "/private/$1")] : [path]
  return [...new Set(both.flatMap((each) => [each, each.normalize("NFC"), each.normalize("NFD")]))]
}

const placesOf = ({ path, real }: Rule): ReadonlyArray<string> => [
  ...new Set([...namesOf(path), ...(real === undefined ? [] : namesOf(real))])
]

const filtersOf = (rule: Rule): ReadonlyArray<string> => {
  const exempt = DefaultSecrets.exemptOf(rule).map((pattern) => `(require-not (regex ${regex(pattern)}))`)
  const filters = placesOf(rule).map((place) =>
    rule.kind === "glob" ? `(regex ${regex(place)})` : `(subpath ${string(place)})`
  )
  return exempt.length === 0 ? filters : filters.map((filter) => `(require-all ${[filter, ...exempt].join(" ")})`)
}

/**
 * Tests whether a profile can deny a rule. It can't read files, so patterns that depend on file contents are left out.
 */
const isDeniable = (rule: Rule): boolean =>
  rule.kind === "glob" ? DefaultSecrets.formatOf(rule) === undefined : !DefaultSecrets.isHarmless(rule, realOf(rule))

/**
 * Writes the profile of a policy. The system's log repeats the message of a clause that denies. `directory` is the
 * session's: the shell writes to the FIFOs in it.
 */
export const make = (policy: SandboxPolicy, directory?: string): string => {
  const tag = (kind: string, at: number): string => `(with message "synapse:${kind}:${at}")`
  const deny = (operations: string, kind: string) => (rule: Rule, at: number) =>
    clause(`(deny ${operations} ${tag(kind, at)}`, isDeniable(rule) ? filtersOf(rule) : [])
  const pin = (rule: Rule, at: number) => {
    const ancestors = placesOf(rule).flatMap((place) => ancestorsIn(policy, place))
    return clause(
      `(deny file-write-unlink ${tag("pin", at)}`,
      [...new Set(ancestors)].map((ancestor) => `(literal ${string(ancestor)})`)
    )
  }
  const denials = policy.blacklist.map(deny("file-read* file-write*", "blacklist"))
  const isOwn = (at: number) => policy.blacklist[at]?.source === "own"
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
    // A directory that contains a blacklisted path can't be renamed: under another name, no rule would cover the path.
    ...policy.blacklist.map((rule, at) => (rule.kind === "path" ? pin(rule, at) : "")),
    ...denials.map((text, at) => (isOwn(at) ? text : "")),
    clause("(allow file-read*", [policy.toolCache ?? [], policy.visible ?? []].flat().flatMap(filtersOf)),
    clause("(allow file-write*", policy.toolCache === undefined ? [] : filtersOf(policy.toolCache)),
    ...denials.map((text, at) => (isOwn(at) ? "" : text)),
    ...grants(policy),
    "(deny network*)",
    policy.unixSockets === true
      ? "(allow network-outbound (remote unix-socket))\n(allow network-bind (local unix-socket))"
      : ""
  ]
  return `${clauses.filter((each) => each !== "").join("\n")}\n`
}

/** Returns the writable ancestors of a path. */
const ancestorsIn = ({ whitelist }: SandboxPolicy, path: string): ReadonlyArray<string> => {
  const roots = whitelist.filter(({ kind }) => kind === "path").flatMap(placesOf)
  const found: Array<string> = []
  for (let at = Path.posix.dirname(path); at !== "/"; at = Path.posix.dirname(at)) {
    if (roots.some((root) => at === root || at.startsWith(`${root}/`))) found.push(at)
  }
  return found
}

/** Allows what a person allowed against the blacklist. It becomes writable only if another rule allows that. */
const grants = (policy: SandboxPolicy): ReadonlyArray<string> => {
  const { decide } = PolicyDecision.make(policy)
  const granted = policy.granted ?? []
  const writable = granted.filter((rule) => decide(realOf(rule), "write").allowed)
  return [
    clause("(allow file-read*", granted.flatMap(filtersOf)),
    clause("(allow file-write*", writable.flatMap(filtersOf))
  ]
}

/** The program's path. It is part of every macOS and can't be installed. */
const systemProgram = "/usr/bin/sandbox-exec"
/** The locale of commands, because macOS has no C.UTF-8. */
const locale = { LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" }

const missing = (program: string) =>
  new ExecutionFailed({
    kind: "sandbox",
    reason: `sandbox-exec is required to run commands in the sandbox, and ${program} can't be run. It is a part of macOS: on another system use its own sandbox. To run commands without a sandbox on purpose: synapse exec --no-sandbox`
  })

/**
 * A layer which wraps shells in sandbox-exec. `program` is its path; `variables` are names of variables that commands
 * get besides the allow-list.
 */
export const layer = ({
  program = systemProgram,
  variables = []
}: {
  readonly program?: string
  readonly variables?: ReadonlyArray<string>
} = {}): Layer.Layer<SandboxPlatform> =>
  Layer.succeed(SandboxPlatform, {
    name: "macos",
    obstacle: () => (HostPath.isProgram(program) ? undefined : missing(program).message),
    wrap: ({ directory, environment, policy, shell }) =>
      HostPath.isProgram(program)
        ? Effect.sync(() => {
            const kept = Environment.make(environment, [...variables, ...(policy.environment ?? [])])
            const toolCache = ToolCache.find(policy)
            const decision = PolicyDecision.make(policy)
            const caches =
              toolCache === undefined
                ? {}
                : ToolCache.variables(toolCache, kept, (path) => decision.decide(path, "write").allowed)
            return {
              spawnable: {
                program,
                args: ["-p", make(policy, directory), shell.program, ...shell.args]
              },
              environment: { ...kept, ...caches, ...locale },
              withheld: Environment.withheld(environment, kept),
              // This platform mounts no masks: denials are traced to the policy's rules alone.
              masks: []
            }
          })
        : missing(program)
  })
