/**
 * Derives policies that allow no more than another: the policy in force, and a read-only one.
 */
import { type Rule, realOf, type SandboxPolicy } from "./SandboxPolicy.js"

const isSame = (one: Rule) => (other: Rule) =>
  one.kind === other.kind && one.path === other.path && realOf(one) === realOf(other)

/** Appends rules that the first list lacks. */
const union = (rules: ReadonlyArray<Rule>, others: ReadonlyArray<Rule>): ReadonlyArray<Rule> => [
  ...rules,
  ...others.filter((rule) => !rules.some(isSame(rule)))
]

type Access = "read" | "write"

/** Returns a key for a right, to look up whether a sandbox has it. */
export const nameOf = (access: Access, path: string): string => `${access} ${path}`

/**
 * Returns the policy that a session's commands are under: the running sandbox's policy, plus what a person has allowed
 * since, minus what is denied since.
 *
 * @param enforced the policy of the sandbox that runs
 * @param built the policy that the settings would give the next sandbox
 * @param given what `sandbox.json` has allowed since, by `nameOf`, and whether the running sandbox has it
 */
export const inForce = (
  enforced: SandboxPolicy,
  built: SandboxPolicy,
  given: ReadonlyMap<string, boolean> = new Map()
): SandboxPolicy => {
  const { granted: _granted, hosts: _hosts, opened: _opened, ...others } = enforced
  const { hosts } = built
  const isGiven = (access: Access, rule: Rule) => given.get(nameOf(access, realOf(rule))) === true
  const held = (access: Access, rules: ReadonlyArray<Rule> = [], before: ReadonlyArray<Rule> = []) =>
    rules.filter((rule) => rule.source !== "file" || before.some(isSame(rule)) || isGiven(access, rule))
  const granted = held("read", built.granted, enforced.granted)
  const opened = held("write", built.opened, enforced.opened)
  return {
    ...others,
    whitelist: union(
      enforced.whitelist,
      built.whitelist.filter((rule) => rule.source === "runtime" || (rule.source === "file" && isGiven("write", rule)))
    ),
    blacklist: union(enforced.blacklist, built.blacklist),
    readonly: union(enforced.readonly, built.readonly),
    ...(hosts === undefined ? undefined : { hosts }),
    ...(granted.length === 0 ? undefined : { granted }),
    ...(opened.length === 0 ? undefined : { opened })
  }
}

/**
 * Returns a policy under which commands write only to the sandbox's own places and still read what they wrote before.
 * It has no network and no unix sockets, since outside programs could be made to write through them.
 *
 * @param places real paths of the directories that the sandbox can have of its own; those that the policy names as a
 *   place of work are left out
 */
export const readOnly = (policy: SandboxPolicy, places: ReadonlyArray<string>): SandboxPolicy => {
  const shown = policy.whitelist.filter((rule) => rule.source !== "tmp" || !places.includes(realOf(rule)))
  const isWithin = (path: string) => (rule: Rule) =>
    path === realOf(rule) || path.startsWith(realOf(rule) === "/" ? "/" : `${realOf(rule)}/`)
  const {
    hosts: _hosts,
    opened: _opened,
    temporary: _temporary,
    toolCache: _cache,
    unixSockets: _sockets,
    ...others
  } = policy
  return {
    ...others,
    shown,
    whitelist: places
      .filter((path) => !shown.some(isWithin(path)))
      .map((path): Rule => ({ pattern: path, path, kind: "path", source: "tmp" }))
  }
}
