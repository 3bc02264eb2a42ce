/** Describes for a person what commands may read and write. */
import * as UntrustedText from "../../domain/UntrustedText.js"
import type { HostRule } from "../../sandbox/policy/HostEntry.js"
import * as Name from "../../sandbox/policy/Name.js"
import * as PolicyDecision from "../../sandbox/policy/PolicyDecision.js"
import {
  networkRemark,
  type Rule,
  type RuleSource,
  type SandboxPolicy,
  writable
} from "../../sandbox/policy/SandboxPolicy.js"
import type { InForce } from "../../sandbox/SandboxManager.js"

/** The most characters that names are padded to. */
const widest = 60

/** Formats a heading and the rules below it, each with its source. */
const section = <R extends { readonly source: RuleSource }>(
  heading: string,
  rules: ReadonlyArray<R>,
  nameOf: (rule: R) => string
): ReadonlyArray<string> => {
  const rows = rules.map((rule) => [nameOf(rule), PolicyDecision.describeSource(rule.source)] as const)
  const width = Math.max(...rows.map(([name]) => name.length).filter((length) => length <= widest))
  return rows.length === 0 ? [] : ["", heading, ...rows.map(([name, source]) => `  ${name.padEnd(width)}  ${source}`)]
}

/** Returns a rule's path as written, with the path that it resolves to if that differs. */
const pathOf = ({ path, pattern, real }: Rule): string => {
  const place = real ?? path
  const isSaid = place === pattern || place === `/${pattern}` || place === `/**/${pattern}`
  return isSaid ? Name.ofEntry(pattern) : `${Name.ofEntry(pattern)} (${Name.ofEntry(place)})`
}

const hostOf = ({ pattern }: HostRule): string => pattern

/** Tests whether a rule is a pattern for files in any directory. */
export const isAnywhere = ({ kind, path }: Rule): boolean => kind === "glob" && path.startsWith("/**")

/** The limit of patterns. On Linux, only files that a search finds can be hidden. */
const named =
  process.platform === "darwin"
    ? "Patterns hold in every directory."
    : "Patterns (**/…) hold where commands may write. Elsewhere, a command that names such a file is refused, but the file is not hidden."

const socketsRisk = {
  all: "Unix sockets can be used: commands can have the programs that listen on one outside of the sandbox do anything.",
  own: "Commands can use the unix sockets that they make, and those allowed by name."
}

/** The sources of rules that nobody has configured here. */
const builtIn: ReadonlySet<RuleSource> = new Set(["default", "own", "startup", "git"])

/**
 * Returns the lines for the rules of a policy.
 *
 * @param isShort true to only count the built-in rules that deny something
 */
export const rules = (policy: SandboxPolicy, isShort = false): ReadonlyArray<string> => {
  const { environment = [], granted = [], hosts, unixSockets } = policy
  const isShown = ({ source }: Rule) => !isShort || !builtIn.has(source)
  const [blacklist, readonly] = [policy.blacklist.filter(isShown), policy.readonly.filter(isShown)]
  const written = new Set(writable(policy).map(pathOf))
  const read = granted.filter((rule) => !written.has(pathOf(rule)))
  const left = policy.blacklist.length + policy.readonly.length - blacklist.length - readonly.length
  return [
    ...section("Read and write:", writable(policy), pathOf),
    ...section("Never read or written:", blacklist, pathOf),
    ...(blacklist.some(isAnywhere) ? ["", named] : []),
    ...section("Allowed to be read, and hidden otherwise:", read, pathOf),
    ...section("Never written:", readonly, pathOf),
    ...(left === 0
      ? []
      : ["", `${left} built-in rules hide secrets and protect what your own tools run: synapse sandbox policy --all`]),
    ...section("Hosts that can be reached:", hosts?.allowed ?? [], hostOf),
    ...section("Hosts that can never be reached:", hosts?.denied ?? [], hostOf),
    ...(environment.length === 0 ? [] : ["", "Variables that are let through:", `  ${environment.join(" ")}`]),
    "",
    ...(unixSockets === undefined ? [] : [socketsRisk[unixSockets === true ? "all" : unixSockets]]),
    hosts === undefined
      ? `Everything else can be read. There is no network${networkRemark(policy)}`
      : `Everything else can be read. No other host can be reached${networkRemark(policy)}`
  ]
}

/** Describes in a line where commands may write, and whether they have a network. */
export const place = ({ cwd, hosts, shown }: SandboxPolicy): string => {
  const allowed = hosts?.allowed.length ?? 0
  const network = allowed === 0 ? "no network" : `the network's ${allowed} allowed host${allowed === 1 ? "" : "s"}`
  return `Sandboxed in ${UntrustedText.word(cwd, 300)}: ${shown === undefined ? "" : "read-only, "}${network}.`
}

const unconfined = "There is NO sandbox: commands have all your rights."

/** Returns the first line of `synapse shell`. */
export const opening = (inForce: InForce | undefined): string =>
  `${inForce === undefined ? unconfined : place(inForce.policy)} /help lists what there is.`

/** Returns the whole text. Undefined means that there is no sandbox. */
export const make = (inForce: InForce | undefined): string => {
  if (inForce === undefined) return unconfined
  const { policy, provider } = inForce
  const lines = [`Commands run in a sandbox (provider: ${provider}), in ${Name.of(policy.cwd)}`, ...rules(policy, true)]
  return `${lines.join("\n")}.`
}
