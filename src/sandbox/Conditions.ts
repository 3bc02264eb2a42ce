/**
 * The limits that commands run under: how long they may take and what they may write and reach. The tool's description
 * states them.
 */
import * as Data from "effect/Data"
import * as PathRule from "./policy/PathRule.js"
import { type Rule, type SandboxPolicy, writable } from "./policy/SandboxPolicy.js"

/**
 * What confines commands. `Open`: nothing. `Confined`: a sandbox that lets them write below `writable` and reach only
 * `hosts`, both entries of the policy. `Impossible`: no sandbox can be made, so nothing runs.
 */
export type Confinement = Data.TaggedEnum<{
  Open: Record<never, never>
  Confined: { readonly writable: ReadonlyArray<string>; readonly hosts: ReadonlyArray<string> }
  Impossible: { readonly reason: string }
}>

export const Confinement = Data.taggedEnum<Confinement>()

export interface Conditions {
  /** The default time limit of a command, in ms. */
  readonly timeout: number
  /** How long a program runs before it continues as a job, in ms; 0 means never. */
  readonly yield: number
  /** Undefined until the sandbox or the settings have been looked at. */
  readonly confinement: Confinement | undefined
}

export const isOffline = ({ confinement }: Conditions): boolean =>
  confinement?._tag === "Impossible" || (confinement?._tag === "Confined" && confinement.hosts.length === 0)

export const ofPolicy = (policy: SandboxPolicy): Confinement =>
  Confinement.Confined({
    hosts: policy.hosts?.allowed.map(({ pattern }) => pattern) ?? [],
    writable: outermost(writable(policy))
  })

/** Returns the paths of rules, without paths inside another of them. */
const outermost = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const distinct = rules.filter(({ path }, at) => rules.findIndex((other) => other.path === path) === at)
  return distinct
    .filter((rule) => PathRule.make(distinct.filter((other) => other !== rule)).find(rule.path) === undefined)
    .map(({ path }) => path)
}
