/**
 * Explains a denial to a model: what was denied, by which rule and why, what would be allowed, and what to do next.
 *
 * @since 0.1.0
 */

import * as Quote from "../../bash/Quote.js"
import * as Name from "../policy/Name.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as Denial from "./Denial.js"
import * as Remedy from "./Remedy.js"

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

/**
 * Describes a denial: what was denied, by which rule and why, followed by the advice on it.
 *
 * @since 0.1.0
 * @category rendering
 */
export const describe = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  others: ReadonlyArray<Denial.Denial> = []
): string =>
  [
    `Blocked by the sandbox: ${did[denial.access]} ${Denial.nameOf(denial)} (rule ${Denial.ruleOf(denial)}: ${denial.reason})`,
    advise(denial, policy, others)
  ].join("\n")

/**
 * The beginning of the line which names what else was denied.
 *
 * @since 0.1.0
 * @category texts
 */
export const also = "Also denied: "

/** The most further denials that are named. */
const mostOthers = 3

/**
 * Names further denials on one line, each with its rule where that is not the first one's; undefined where there are none.
 *
 * @since 0.1.0
 * @category rendering
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
 *
 * @since 0.1.0
 * @category rendering
 */
export const advise = (
  denial: Denial.Denial,
  policy: SandboxPolicy,
  others: ReadonlyArray<Denial.Denial> = []
): string =>
  [`${known[denial.how]}.`, alsoOf(denial, others), `Allowed: ${allowed(denial, policy)}`, nextStep(denial, policy)]
    .filter((line) => line !== undefined)
    .join("\n")

const allowed = ({ access, rule }: Denial.Denial, { whitelist }: SandboxPolicy): string => {
  if (rule === Denial.unixSockets) return "pairs of connected sockets, and TCP to localhost, within the sandbox."
  if (access === "network") return "connections to localhost, within the sandbox."
  const all = [...new Set(whitelist.map(({ pattern }) => pattern))]
  const roots = all.filter((path) => !all.some((other) => path !== other && path.startsWith(`${other}/`)))
  const writes = roots.length === 0 ? "writing nowhere" : `writing under ${roots.map(Name.ofEntry).join(", ")}`
  return `reading whatever no rule denies; ${writes}.`
}

const noDetour = "Do not try to get around it."

const nextStep = (denial: Denial.Denial, policy: SandboxPolicy): string => {
  const { access, resource, rule, source } = denial
  if (policy.unattended === true) return `${noDetour} ${inAnswer(denial, policy)}`
  if (rule === Denial.unixSockets) {
    return `${noDetour} If one is needed, ask the user: --allow-unix-sockets allows them, and so lets commands reach programs outside of the sandbox.`
  }
  if (access === "network") return `${noDetour} No setting allows the network; ask the user to do what needs it.`
  if (rule === PolicyDecision.notWhitelisted.pattern) {
    if (policy.shown !== undefined) return `${noDetour} You only read: tell in your answer what is to be written.`
    const remedy = Remedy.find(resource, policy.cwd)
    if (remedy === undefined) return `${noDetour} No setting lets commands write there.`
    const { isThere, path } = remedy
    const first = isThere ? "run" : "make it, and then to run"
    return `If it has to be there, ask the user to ${first}, for later sessions: synapse sandbox allow ${Quote.line(path)}`
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
