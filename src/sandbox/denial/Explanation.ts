/**
 * Explains a denial to a model: what was denied, by which rule and why, what would be allowed, and what to do next.
 *
 * @since 0.1.0
 */

import * as HostPath from "../policy/HostPath.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { Denial } from "./Denial.js"

const did: Readonly<Record<Denial["access"], string>> = { read: "reading", write: "writing", network: "reaching" }

const known: Readonly<Record<Denial["how"], string>> = {
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
export const describe = (denial: Denial, policy: SandboxPolicy): string =>
  [
    `Blocked by the sandbox: ${did[denial.access]} ${onOneLine(denial.resource)} (rule ${onOneLine(denial.rule)}: ${denial.reason})`,
    advise(denial, policy)
  ].join("\n")

/**
 * Returns the advice on a denial, one line each: whether the command ran, what would be allowed, and what to do next.
 *
 * @since 0.1.0
 * @category rendering
 */
export const advise = (denial: Denial, policy: SandboxPolicy): string =>
  [`${known[denial.how]}.`, `Allowed: ${allowed(denial, policy)}`, nextStep(denial, policy)].join("\n")

/**
 * Escapes control characters, so that a name stays on one line.
 *
 * @since 0.1.0
 */
export const onOneLine = (text: string): string =>
  text.replace(/[\x00-\x1f\x7f]/g, (char) => JSON.stringify(char).slice(1, -1))

const quoted = (path: string): string => (/^[\w./@%+,:-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

const allowed = ({ access }: Denial, { whitelist }: SandboxPolicy): string => {
  if (access === "network") return "connections to localhost, within the sandbox."
  const roots = [...new Set(whitelist.map(({ pattern }) => onOneLine(pattern)))]
  const writes = roots.length === 0 ? "writing nowhere" : `writing under ${roots.join(", ")}`
  return `reading whatever no rule denies; ${writes}.`
}

const nextStep = ({ access, resource, rule, source }: Denial, { shown }: SandboxPolicy): string => {
  const noDetour = "Do not try to get around it."
  if (access === "network") return `${noDetour} No setting allows the network; ask the user to do what needs it.`
  if (rule === PolicyDecision.notWhitelisted.pattern) {
    if (shown !== undefined) return `${noDetour} You only read: tell in your answer what is to be written.`
    const first = HostPath.isMissing(resource) ? "make it, and then to run" : "run"
    return `If it has to be there, ask the user to ${first}: synapse sandbox allow ${quoted(resource)}`
  }
  if (source === "file") {
    return `${noDetour} The user can take the rule back: synapse sandbox forget ${quoted(rule)}`
  }
  return `${noDetour} If it is needed, ask the user for what you need of it.`
}
