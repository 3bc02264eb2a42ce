/**
 * Explains a denial to a model: what was denied, by which rule and why, what would be allowed, and what to do next.
 */

import * as Os from "node:os"
import * as Path from "node:path"
import * as Quote from "../../bash/Quote.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import { type SandboxPolicy, writable } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"

/** A path to allow. `isThere` is false where it has to be made before: the directory above it is too wide. */
interface Remedy {
  readonly path: string
  readonly isThere: boolean
}

/**
 * Finds the path to allow for a write; undefined where no sandbox may allow it.
 *
 * @param resource the real path that was to be written
 * @param cwd the directory that the sandbox is for
 */
export const find = (resource: string, cwd: string): Remedy | undefined => {
  const found = nearest(resource, cwd)
  return PathEntry.unwritable(found.path) === undefined ? found : undefined
}

/**
 * Returns the commands that allow several writes, each path once, and none that lies in another; undefined where no sandbox
 * may allow any of them.
 */
const commands = (
  resources: ReadonlyArray<string>,
  cwd: string
): { readonly text: string; readonly areThere: boolean; readonly isOne: boolean } | undefined => {
  const found = new Map(resources.flatMap((resource) => find(resource, cwd) ?? []).map((each) => [each.path, each]))
  const paths = [...found.keys()]
  const widest = [...found.values()].filter(({ path }) => !paths.some((other) => path.startsWith(`${other}/`)))
  if (widest.length === 0) return undefined
  return {
    text: widest.map(({ path }) => `synapse sandbox allow ${Quote.line(path)}`).join("; "),
    areThere: widest.every(({ isThere }) => isThere),
    isOne: widest.length === 1
  }
}

const nearest = (resource: string, cwd: string): Remedy => {
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

/** A user whom the system does not know has none. */
const homeDirectory = (): string | undefined => {
  try {
    return Os.homedir()
  } catch {
    return undefined
  }
}

const did: Readonly<Record<Denial.Denial["access"], string>> = {
  read: "reading",
  write: "writing",
  network: "reaching"
}

const known: Readonly<Record<Denial.Denial["how"], string>> = {
  preflight: "The command was not run",
  "verified-text": "The command ran, and was refused this",
  counter: "The command ran; the system counted the attempt, which may not be why it failed"
}

/** Describes a denial: what was denied, by which rule and why, followed by the advice on it. */
export const describe = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  others: ReadonlyArray<Denial.Denial> = []
): string =>
  [
    `Blocked by the sandbox: ${did[denial.access]} ${Denial.nameOf(denial)} (rule ${Denial.ruleOf(denial)}: ${denial.reason})`,
    advise(denial, policy, others)
  ].join("\n")

/** The beginning of the line which names what else was denied. */
export const also = "Also denied: "

/** The most further denials that are named. */
const mostOthers = 3

/**
 * Names further denials on one line, each with its rule where that is not the first one's; undefined where there are none.
 */
export const alsoOf = (denial: Denial.Denial, others: ReadonlyArray<Denial.Denial>): string | undefined => {
  const named = new Set(
    others.map((other) => {
      const by = other.rule === denial.rule ? "" : ` (rule ${Denial.ruleOf(other)})`
      return `${did[other.access]} ${Denial.nameOf(other)}${by}`
    })
  )
  named.delete(`${did[denial.access]} ${Denial.nameOf(denial)}`)
  if (named.size === 0) return undefined
  const shown = [...named].slice(0, mostOthers)
  return `${also}${shown.join(", ")}${named.size > mostOthers ? `, and ${named.size - mostOthers} more` : ""}.`
}

/**
 * Returns the advice on a denial, one line each: whether the command ran, what else was denied, what would be allowed, and
 * what to do next.
 */
export const advise = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  others: ReadonlyArray<Denial.Denial> = []
): string =>
  [
    `${known[denial.how]}.`,
    alsoOf(denial, others),
    `Allowed: ${allowed(denial, policy)}`,
    nextStep(denial, policy, others),
    isUnlisted(denial) ? undefined : remedy(others, policy)
  ]
    .filter((line) => line !== undefined)
    .join("\n")

const isUnlisted = ({ rule }: Denial.Denial): boolean => rule === PolicyDecision.notWhitelisted.pattern

const commandsFor = (denials: ReadonlyArray<Denial.Denial>, { cwd, shown, unattended }: SandboxPolicy) =>
  unattended === true || shown !== undefined
    ? undefined
    : commands(
        denials
          .filter(isUnlisted)
          .slice(0, mostOthers + 1)
          .map(({ resource }) => resource),
        cwd
      )

/** Tells what to ask the user for, so that the writes can be done; undefined where nobody can be asked, or no setting helps. */
const remedy = (denials: ReadonlyArray<Denial.Denial>, policy: SandboxPolicy): string | undefined => {
  const found = commandsFor(denials, policy)
  if (found === undefined) return undefined
  const { areThere, isOne, text } = found
  const first = areThere ? "" : isOne ? "make it, and then to " : "make what is missing, and then to "
  return `${isOne ? "If it has to be there" : "If they have to be there"}, ask the user to ${first}run, for later sessions: ${text}`
}

const askFor = (areThere: boolean, text: string): string => `To ask for${areThere ? "" : ", once made"}: ${text}`

/** Tells in few words what to ask the user for, so that denied writes can be done; undefined where that is nothing. */
export const request = (denials: ReadonlyArray<Denial.Denial>, policy: SandboxPolicy): string | undefined => {
  const found = commandsFor(denials, policy)
  return found === undefined ? undefined : askFor(found.areThere, found.text)
}

/**
 * Returns the few words for the line of an explanation which tells what to ask the user for; undefined for any other line.
 */
export const requestIn = (line: string): string | undefined => {
  const [, first, text] = /^If (?:it has|they have) to be there, ask the user to (make )?.*?: (.*)$/.exec(line) ?? []
  return text === undefined ? undefined : askFor(first === undefined, text)
}

const allowed = ({ access, rule }: Denial.Denial, policy: SandboxPolicy): string => {
  if (rule === Denial.unixSockets) return "pairs of connected sockets, and TCP to localhost, within the sandbox."
  if (access === "network") return "connections to localhost, within the sandbox."
  const all = [...new Set(writable(policy).map(({ pattern }) => pattern))]
  const roots = all.filter((path) => !all.some((other) => path !== other && path.startsWith(`${other}/`)))
  const writes = roots.length === 0 ? "writing nowhere" : `writing under ${roots.map(Name.ofEntry).join(", ")}`
  return `reading whatever no rule denies; ${writes}.`
}

const noDetour = "Do not try to get around it."

const nextStep = (denial: Denial.Denial, policy: SandboxPolicy, others: ReadonlyArray<Denial.Denial>): string => {
  const { access, rule, source } = denial
  if (policy.unattended === true) return `${noDetour} ${inAnswer(denial, policy)}`
  if (rule === Denial.unixSockets) {
    return `${noDetour} If one is needed, ask the user: --allow-unix-sockets allows them, and so lets commands reach programs outside of the sandbox.`
  }
  if (access === "network") return `${noDetour} No setting allows the network; ask the user to do what needs it.`
  if (isUnlisted(denial)) {
    if (policy.shown !== undefined) return `${noDetour} You only read: tell in your answer what is to be written.`
    return remedy([denial, ...others], policy) ?? `${noDetour} No setting lets commands write there.`
  }
  if (source === "file") {
    return `${noDetour} The user can take the rule back, for later sessions: synapse sandbox forget ${rule.startsWith("-") ? "-- " : ""}${Quote.line(rule)}`
  }
  return `${noDetour} If it is needed, ask the user for what you need of it.`
}

/** Tells a sub-agent, whose answer is all that anybody sees of it, to say there what it needs. */
const inAnswer = ({ access, rule }: Denial.Denial, { shown }: SandboxPolicy): string => {
  if (rule === PolicyDecision.notWhitelisted.pattern) {
    return shown === undefined
      ? "Say in your answer what has to be written there."
      : "You only read: say in your answer what is to be written."
  }
  return access === "network"
    ? "Say in your answer what is needed from there."
    : "If it is needed, say in your answer what you need of it."
}
