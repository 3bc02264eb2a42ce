/** Turns denials into what is told of them: what was refused, what is allowed, and what a user can do about it. */

import * as Os from "node:os"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"
import type * as Diagnostic from "../../domain/Diagnostic.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import { networkRemark, type SandboxPolicy, writable } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"

/** A path to allow. `isThere` is false where it has to be made before: the directory above it is too wide. */
interface Remedy {
  readonly path: string
  readonly isThere: boolean
}

/**
 * Finds the path to allow for a write: the nearest one that exists, unless it is too wide to be given away. Returns
 * undefined if no sandbox may allow it.
 *
 * @param resource the real path that was to be written
 * @param cwd the directory that the sandbox is for
 */
export const remedyFor = (resource: string, cwd: string): Remedy | undefined => {
  const found = nearest(resource, cwd)
  return PathEntry.unwritable(found.path) === undefined ? found : undefined
}

const nearest = (resource: string, cwd: string): Remedy => {
  // git writes in many places of a repository.
  const git = GitDirectory.upwards(resource).findLast((path) => HostPath.isDirectory(`${path}/objects/pack`))
  if (git !== undefined) return { path: git, isThere: true }
  if (!HostPath.isMissing(resource)) return { path: resource, isThere: true }
  let path = resource
  let above = Path.posix.dirname(path)
  while (above !== "/" && HostPath.isMissing(above)) [path, above] = [above, Path.posix.dirname(above)]
  return isWide(above, cwd) ? { path, isThere: false } : { path: above, isThere: true }
}

const wide =
  /^\/(?:|bin|boot|dev|etc|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|(?:home|Users|usr|var|System|Library)(?:\/[^/]*)?)$/

/** Tests whether a directory holds much else: the system's own, a home directory, one that the project lies in. */
export const isWide = (directory: string, cwd: string): boolean =>
  wide.test(directory) || directory === homeDirectory() || cwd.startsWith(`${directory}/`)

/** Returns undefined for a user whom the system does not know. */
const homeDirectory = (): string | undefined => Attempt.orUndefined(() => Os.homedir())

/** The most writes for which a command to allow them is worked out. */
const mostAllowed = 4

/** Returns the paths with which several writes can be done, each once, and none that lies in another. */
const remediesFor = (
  denials: ReadonlyArray<Denial.Denial>,
  { cwd, shown, unattended }: SandboxPolicy
): ReadonlyArray<Remedy> => {
  if (unattended === true || shown !== undefined) return []
  const unlisted = denials.filter(Denial.isUnlisted).slice(0, mostAllowed)
  const startup = denials
    .filter(({ source }) => source === "startup")
    .map(({ rule }) => ({ path: rule, isThere: true }))
  const found = [...unlisted.flatMap(({ resource }) => remedyFor(resource, cwd) ?? []), ...startup]
  return [...new Map(found.map((each) => [each.path, each])).values()].filter(
    ({ path }) => !found.some((other) => path.startsWith(`${other.path}/`))
  )
}

const anew = "Once it is allowed, call with restart: true: only a new shell has it."

/** Names further denials, a host with what allows it, others with their rule where that is not the first one's. */
const alsoOf = (
  denial: Denial.Denial,
  others: ReadonlyArray<Denial.Denial>,
  policy: SandboxPolicy
): ReadonlyArray<string> => {
  const first = Denial.nameOf(denial)
  const named = others
    .filter((other) => Denial.nameOf(other) !== first)
    .map((other) => {
      const name = Denial.nameOf(other)
      const grant = grantOf(other, policy)
      if (grant !== undefined) return `${name} (synapse sandbox allow ${HostEntry.toArgument(grant)})`
      return other.rule === denial.rule ? name : `${name} (rule ${Denial.ruleOf(other)})`
    })
  return [...new Set(named)]
}

/** Says where commands can write. */
const writableIn = (policy: SandboxPolicy): string => {
  const all = [...new Set(writable(policy).map(({ pattern }) => pattern))]
  const roots = all.filter((path) => !all.some((other) => path !== other && path.startsWith(`${other}/`)))
  return `Writable: ${roots.length === 0 ? "nothing" : roots.map(Name.ofEntry).join(", ")}.`
}

/** Returns the entry that would allow a host; undefined where none does, or no host is known. */
const grantOf = (denial: Denial.Denial, { unattended }: SandboxPolicy): string | undefined => {
  if (denial.access !== "network" || unattended === true) return undefined
  if (denial.how === "event") return denial.grant
  const isHost = !Denial.isSocket(denial) && !Denial.isNameless(denial)
  return isHost && Either.isRight(HostEntry.parse(denial.resource, "allowed")) ? denial.resource : undefined
}

/** Returns the words behind `synapse sandbox` by which a user lifts the rule; undefined where none does. */
const liftOf = (denial: Denial.Denial, policy: SandboxPolicy): string | undefined => {
  const { unattended } = policy
  const { access, resource, rule, source } = denial
  const isOther =
    denial.next !== undefined || denial.isMet === true || Denial.isUnlisted(denial) || access === "network"
  if (unattended === true || isOther) return undefined
  if (source === "file") {
    const others = {
      ...policy,
      blacklist: policy.blacklist.filter((other) => other.source !== source || other.pattern !== rule)
    }
    const next = access === "system" ? undefined : nextOf(denial, access, others)
    return `forget ${rule.startsWith("-") ? "-- " : ""}${Quote.line(rule)}${next === undefined ? "" : ` && synapse sandbox ${next}`}`
  }
  if (source === "startup") return `allow ${Quote.line(rule)}`
  const isWritten = access === "write" && rule !== PrivateTemporary.hiding.pattern
  return source === "default" ? `allow ${isWritten ? "--write " : ""}${Quote.line(resource)}` : undefined
}

/** Returns the words that lift the rule which denies the same once another rule is lifted; undefined where none does. */
const nextOf = (
  { how, resource }: Denial.Denial,
  access: PolicyDecision.Access,
  policy: SandboxPolicy
): string | undefined => {
  const verdict = PolicyDecision.make(policy).decide(resource, access)
  return verdict.allowed ? undefined : liftOf(Denial.make(verdict, resource, access, how), policy)
}

/** Says what is allowed instead, and what to do next. */
const adviceOn = (denial: Denial.Denial, policy: SandboxPolicy, canBeAllowed: boolean): ReadonlyArray<string> => {
  const { access, rule, source } = denial
  const { shown, unattended } = policy
  const lift = liftOf(denial, policy)
  if (denial.isMet === true) return []
  if (Denial.isUnlisted(denial)) {
    if (shown !== undefined) return ["You only read: say in your answer what is to be written."]
    const next = unattended === true ? "Say in your answer what has to be written there." : "It can't be allowed."
    return canBeAllowed ? [writableIn(policy)] : [writableIn(policy), next]
  }
  if (denial.next !== undefined) {
    return [unattended === true ? "Say in your answer what needs it." : denial.next]
  }
  if (denial.how === "event") {
    if (unattended === true) return ["Say in your answer what is needed from there."]
    return source === "file" && denial.grant === undefined
      ? [`The user can lift the rule: synapse sandbox forget ${Quote.line(rule)}`]
      : []
  }
  if (access === "network") {
    const works = "Its localhost is the sandbox's own."
    return unattended === true
      ? [works, "Say in your answer what is needed from there."]
      : grantOf(denial, policy) === undefined
        ? [works, "Ask the user to allow the host that it needs: synapse sandbox allow HOST"]
        : [works]
  }
  if (unattended === true) return ["Do not work around it: say in your answer what you need of it."]
  if (rule === PrivateTemporary.hiding.pattern) {
    return [`Ask the user to copy it to where you work, or to run: synapse sandbox ${lift}`]
  }
  if (source === "startup") return []
  if (source === "socket") return [`Ask the user for --allow-socket ${Quote.line(denial.resource)}.`]
  if (source === "file") {
    return ["Do not work around it.", `The user can lift the rule: synapse sandbox ${lift}`]
  }
  if (source === "default") {
    return ["Do not work around it.", `Ask the user to run: synapse sandbox ${lift}`]
  }
  return ["Do not work around it: ask the user for what you need of it."]
}

/**
 * Returns what is told of a denial.
 *
 * @param rest the sentence on the command that does the rest without what was denied
 * @param takesNewSandbox tests whether only a new sandbox can have a path allowed
 */
export const of = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  others: ReadonlyArray<Denial.Denial> = [],
  rest?: string,
  takesNewSandbox: (path: string) => boolean = () => false
): Diagnostic.Denial => {
  const remedies = remediesFor([denial, ...others], policy)
  const isOfNetwork = denial.access === "network" && !Denial.isSocket(denial) && denial.how !== "event"
  const grant = grantOf(denial, policy)
  const lift = liftOf(denial, policy)
  // What sandbox.json denies stays denied until the sandbox ends, and what a rule hides is only to be read until then.
  const isKept = denial.source === "file" || (denial.source === "default" && denial.access === "write")
  const isAnew = (lift !== undefined && isKept) || remedies.some(({ path }) => takesNewSandbox(path))
  const advice = adviceOn(denial, policy, remedies.length > 0)
  const byName = Denial.isNameless(denial) ? "an address" : Denial.nameOf(denial)
  return {
    _tag: "Denial",
    what:
      isOfNetwork && policy.hosts !== undefined
        ? `${byName} can't be reached: commands reach only the hosts that are allowed, and these by name`
        : `${Denial.whatOf(denial)}${isOfNetwork ? networkRemark(policy) : ""}`,
    rule: denial.rule,
    reason: denial.reason,
    ran: denial.how !== "preflight",
    also: alsoOf(denial, others, policy),
    advice: isAnew ? advice.toSpliced(1, 0, anew) : advice,
    ...(grant === undefined ? undefined : { host: HostEntry.toArgument(grant) }),
    ...(lift === undefined ? undefined : { lift }),
    ...(rest === undefined ? undefined : { rest }),
    ...(remedies.length === 0
      ? undefined
      : {
          allow: {
            paths: remedies.map(({ path }) => Quote.line(path)),
            exist: remedies.every(({ isThere }) => isThere)
          }
        })
  }
}
