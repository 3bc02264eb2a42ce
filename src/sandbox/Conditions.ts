/**
 * The conditions that commands run under, for the tool's description: how long they may take, and what confines them.
 */
import * as Data from "effect/Data"
import * as PathRule from "./policy/PathRule.js"
import { type Rule, type SandboxPolicy, writable } from "./policy/SandboxPolicy.js"

/**
 * The confinement of commands. `Open`: nothing. `Confined`: a sandbox in which commands may write to `writable` and below, and
 * reach `hosts` alone, entries of the policy. `Impossible`: no sandbox can be made, so that nothing runs.
 */
export type Confinement = Data.TaggedEnum<{
  Open: Record<never, never>
  Confined: { readonly writable: ReadonlyArray<string>; readonly hosts: ReadonlyArray<string> }
  Impossible: { readonly reason: string }
}>

/** The constructors of Confinement. */
export const Confinement = Data.taggedEnum<Confinement>()

/** The conditions that commands run under. */
export interface Conditions {
  /** The time that a command may take, in milliseconds, where its call names none. */
  readonly timeout: number
  /** The time after which a program goes on as a job, in milliseconds; 0 where it never does by itself. */
  readonly yield: number
  /** Undefined where nobody has looked yet. */
  readonly confinement: Confinement | undefined
}

/** Tests whether commands reach no host. */
export const isOffline = ({ confinement }: Conditions): boolean =>
  confinement?._tag === "Impossible" || (confinement?._tag === "Confined" && confinement.hosts.length === 0)

/** Returns the confinement by a policy that is in force. */
export const ofPolicy = (policy: SandboxPolicy): Confinement =>
  Confinement.Confined({
    hosts: policy.hosts?.allowed.map(({ pattern }) => pattern) ?? [],
    writable: outermost(writable(policy))
  })

/** Returns the paths of rules, without those that lie within another. */
const outermost = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const distinct = rules.filter(({ path }, at) => rules.findIndex((other) => other.path === path) === at)
  return distinct
    .filter((rule) => PathRule.make(distinct.filter((other) => other !== rule)).find(rule.path) === undefined)
    .map(({ path }) => path)
}
