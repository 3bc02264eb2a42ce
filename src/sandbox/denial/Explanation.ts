/**
 * Turns denials into messages: what was refused, what is allowed, and what a user can do about it.
 */

import * as Os from "node:os"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import * as PrivateTemporary from "../policy/PrivateTemporary.js"
import * as RealPath from "../policy/RealPath.js"
import { networkRemark, type SandboxPolicy, writable } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"
import { unixSocket } from "./internal/SystemCalls.js"

/**
 * A path to allow. `isThere` is false if the path must be created first, because its parent directory is too wide to
 * allow.
 */
interface Remedy {
  readonly path: string
  readonly isThere: boolean
}

/**
 * Finds the path to allow for a write: the nearest existing one, unless it is too wide. Returns undefined if no sandbox
 * may allow it.
 *
 * @param resource the real path that was to be written
 * @param cwd the directory that the sandbox is for
 */
export const remedyFor = (resource: string, cwd: string): Remedy | undefined => {
  const found = nearest(resource, cwd)
  return PathEntry.unwritable(found.path) === undefined ? found : undefined
}

const nearest = (resource: string, cwd: string): Remedy => {
  // git writes in many places of a repository, so the whole repository is allowed.
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

/** Tests whether a directory holds much else: a system directory, a home, or one that contains the project. */
export const isWide = (directory: string, cwd: string): boolean =>
  wide.test(directory) || directory === homeDirectory() || cwd.startsWith(`${directory}/`)

/** Returns undefined for a user unknown to the system. */
const homeDirectory = (): string | undefined => Attempt.orUndefined(() => Os.homedir())

/** The most writes for which the message works out a command that allows them. */
const mostAllowed = 4

/** Returns the paths to allow for several writes, without duplicates or paths inside others. */
const remediesFor = (
  denials: ReadonlyArray<Denial.Denial>,
  { cwd, shown, unattended }: SandboxPolicy
): ReadonlyArray<Remedy> => {
  if (unattended === true || shown !== undefined) return []
  const unlisted = denials.filter((each) => Denial.isUnlisted(each) && each.next === undefined).slice(0, mostAllowed)
  const startup = denials
    .filter(({ source }) => source === "startup")
    .map(({ rule }) => ({ path: rule, isThere: true }))
  const found = [...unlisted.flatMap(({ resource }) => remedyFor(resource, cwd) ?? []), ...startup]
  return [...new Map(found.map((each) => [each.path, each])).values()].filter(
    ({ path }) => !found.some((other) => path.startsWith(`${other.path}/`))
  )
}

/**
 * Names further denials: a host with the entry that allows it, others with their rule if it differs from the first
 * one's.
 */
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

/** Returns the entry that would allow a host, if the host is known and can be allowed. */
const grantOf = (denial: Denial.Denial, { unattended }: SandboxPolicy): string | undefined => {
  if (denial.access !== "network" || unattended === true) return undefined
  if (denial.how === "event") return denial.grant
  const isHost = !Denial.isSocket(denial) && !Denial.isNameless(denial)
  return isHost && Either.isRight(HostEntry.parse(denial.resource, "allowed")) ? denial.resource : undefined
}

/** Returns the arguments of `synapse sandbox` with which a user lifts the rule, if that is possible. */
const liftOf = (denial: Denial.Denial, policy: SandboxPolicy): string | undefined => {
  const { unattended } = policy
  const { access, resource, rule, source, tool } = denial
  if (tool !== undefined && policy.hosts === undefined && unattended !== true) return `allow --from ${tool}`
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
  const path = rule === Denial.readOnly ? nearest(resource, policy.cwd).path : resource
  return source === "default" ? `allow ${isWritten ? "--write " : ""}${Quote.line(path)}` : undefined
}

/** Returns the arguments that lift a second rule, which would deny the same thing once the first is lifted. */
const nextOf = (
  { how, resource }: Denial.Denial,
  access: PolicyDecision.Access,
  policy: SandboxPolicy
): string | undefined => {
  const verdict = PolicyDecision.make(policy).decide(resource, access)
  return verdict.allowed ? undefined : liftOf(Denial.make(verdict, resource, access, how), policy)
}

/** The advice to a model where nobody can be asked. */
const unasked = "Do not work around it: say in your answer what you need of it."

/** Says what is allowed instead, and what to do next. */
const adviceOn = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  canBeAllowed: boolean,
  lift: string | undefined,
  isAnew: boolean
): ReadonlyArray<string> => {
  const { access, rule, source } = denial
  const { shown, unattended } = policy
  if (denial.isMet === true) return []
  if (Denial.isUnlisted(denial)) {
    if (shown !== undefined) return ["You only read: say in your answer what is to be written."]
    const next = unattended === true ? unasked : (denial.next ?? "It can't be allowed.")
    return canBeAllowed ? [writableIn(policy)] : [writableIn(policy), next]
  }
  if (unattended === true) return [unasked]
  if (denial.next !== undefined) return [denial.next]
  if (denial.how === "event") {
    return source === "file" && denial.grant === undefined
      ? [`The user can lift the rule: synapse sandbox forget ${Quote.line(rule)}`]
      : []
  }
  if (access === "network") {
    if (lift !== undefined) return [`${Diagnostic.asking()} synapse sandbox ${lift}`]
    return grantOf(denial, policy) === undefined
      ? ["Tell the user which host it needs: synapse sandbox allow lets commands reach it."]
      : []
  }
  if (rule === PrivateTemporary.hiding.pattern) {
    return [`Ask the user to copy it to where you work, or to run: synapse sandbox ${lift}`]
  }
  if (source === "startup") return []
  if (source === "socket") return [`Ask the user for --allow-socket ${Quote.line(denial.resource)}.`]
  if (lift === undefined) return ["Do not work around it: ask the user for what you need of it."]
  const own = "The user can lift the rule, and you then call with restart: true:"
  return ["Do not work around it.", `${source === "file" ? own : Diagnostic.asking(isAnew)} synapse sandbox ${lift}`]
}

const ownSockets =
  '--unix-sockets own, or "unixSockets": "own" in sandbox.json, lets commands make sockets of their own.'

/** Says what lets commands use a socket that exists, or make sockets of their own where they may write. */
const socketWay = ({ next, resource }: Denial.Denial, policy: SandboxPolicy): string | undefined => {
  const { real } = RealPath.follow(resource)
  if (HostPath.isSocket(real)) {
    return `--allow-socket ${Quote.line(resource)} lets commands use it, with all that its program may do.`
  }
  if (next !== unixSocket.next) return undefined
  const isOwn = !resource.startsWith("/") || PolicyDecision.make(policy).decide(real, "write").allowed
  return isOwn ? ownSockets : "No program outside of the sandbox listens there."
}

/**
 * Returns the message about a denial.
 *
 * @param rest a sentence with the command that does everything except what was denied
 * @param takesNewSandbox tests whether only a new sandbox can allow a path
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
  // Rules from sandbox.json and for what runs by itself stay in force until the sandbox ends. A path that a built-in rule
  // hides can only become readable, not writable, in the same sandbox.
  const isKept =
    denial.source === "file" ||
    denial.source === "startup" ||
    (denial.source === "default" && denial.access === "write")
  const isAnew = (lift !== undefined && isKept) || remedies.some(({ path }) => takesNewSandbox(path))
  const instead = Denial.isSocket(denial) && policy.unattended !== true ? (socketWay(denial, policy) ?? rest) : rest
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
    advice: adviceOn(denial, policy, remedies.length > 0, lift, isAnew),
    ...(isAnew ? { isAnew } : undefined),
    ...(grant === undefined ? undefined : { host: HostEntry.toArgument(grant) }),
    // A start-up file is among what is to be allowed.
    ...(lift === undefined || (denial.source === "startup" && remedies.length > 0)
      ? undefined
      : denial.source === "default" && denial.access === "read"
        ? { hidden: Quote.line(denial.resource) }
        : { lift }),
    ...(instead === undefined ? undefined : { rest: instead }),
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
