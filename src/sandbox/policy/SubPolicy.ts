/**
 * Derives policies that allow no more than another: the policy in force, and one under which nothing of it is written.
 */
import type { Rule, SandboxPolicy } from "./SandboxPolicy.js"

const realOf = (rule: Rule): string => rule.real ?? rule.path

const isSame = (one: Rule) => (other: Rule) =>
  one.kind === other.kind && one.path === other.path && realOf(one) === realOf(other)

/** Appends the rules that the first list does not have. */
const union = (rules: ReadonlyArray<Rule>, others: ReadonlyArray<Rule>): ReadonlyArray<Rule> => [
  ...rules,
  ...others.filter((rule) => !rules.some(isSame(rule)))
]

type Access = "read" | "write"

/** Returns the name of a right, by which it is known whether a sandbox has it. */
export const nameOf = (access: Access, path: string): string => `${access} ${path}`

/**
 * Returns the policy that a session's commands are under: the one that its sandbox enforces, with what a person has
 * allowed since then, and with what is denied by now besides.
 *
 * @param enforced the policy of the sandbox that runs
 * @param built the policy of the next one, by what the settings say now
 * @param given what `sandbox.json` allows since, by `nameOf`, and whether the sandbox that runs has it
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
 * Returns a policy under which only places of the sandbox's own can be written, and the rest of the policy holds: what was
 * written before is read. It has no unix sockets, by which programs outside could be made to write, and no network.
 *
 * @param places the directories that the sandbox can have of its own, by their real paths; those that the policy names as a
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
