/**
 * The conditions that commands run under, for the tool's description: how long they may take, and what confines them.
 */
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { ExecutionFailed } from "../domain/CommandError.js"
import type { PolicyBuilder, RuntimeRules } from "./config/PolicyBuilder.js"
import type { SandboxConfig } from "./config/SandboxConfig.js"
import type { SandboxConfigError } from "./config/SandboxConfigError.js"
import type { SandboxFile } from "./config/SandboxFile.js"
import type { CurrentSandbox } from "./internal/CurrentSandbox.js"
import * as PathRule from "./policy/PathRule.js"
import { type Rule, writable } from "./policy/SandboxPolicy.js"
import * as SubPolicy from "./policy/SubPolicy.js"
import type { SandboxProviders } from "./SandboxProvider.js"

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

/** Tests whether commands reach no host. */
export const isOffline: (confinement: Confinement) => boolean = Confinement.$match({
  Open: () => false,
  Confined: ({ hosts }) => hosts.length === 0,
  Impossible: () => true
})

/** The conditions that commands run under. */
export interface Conditions {
  /** The time that a command may take, in milliseconds, where its call names none. */
  readonly timeout: number
  /** The time after which a program goes on as a job, in milliseconds; 0 where it never does by itself. */
  readonly yield: number
  readonly confinement: Confinement
}

/** The dependencies of `confinement`. */
export interface Known {
  readonly config: Pick<Context.Tag.Service<SandboxConfig>, "peek">
  readonly builder: Pick<Context.Tag.Service<PolicyBuilder>, "peek">
  readonly providers: Pick<Context.Tag.Service<SandboxProviders>, "find">
  readonly current: Pick<CurrentSandbox, "now">
  /** The directory whose sandbox is made first. */
  readonly directory: string
  /** Enables or disables the sandbox; where undefined, `sandbox.json` decides. */
  readonly enabled: boolean | undefined
  readonly runtime: RuntimeRules
}

/**
 * Finds what confines commands as of now: by the sandbox that is there, or by the settings that the next one is made
 * from. It starts nothing.
 */
export const confinement = (known: Known): Confinement =>
  known.enabled === false
    ? Confinement.Open()
    : Either.merge(
        Either.mapLeft(Either.flatMap(known.config.peek(), ofFile(known)), ({ message }) =>
          Confinement.Impossible({ reason: message })
        )
      )

const ofFile =
  ({ builder, current, directory, enabled, providers, runtime }: Known) =>
  (file: SandboxFile): Either.Either<Confinement, ExecutionFailed | SandboxConfigError> => {
    const now = current.now()
    const isOpen = now === undefined ? enabled === undefined && !file.enabled : now.backend.policy === undefined
    if (isOpen) return Either.right(Confinement.Open())
    const found = providers.find(file.provider)
    if (Either.isLeft(found)) return Either.left(found.left)
    if (found.right.enforces === false) return Either.right(Confinement.Open())
    const reason = found.right.obstacle?.()
    if (reason !== undefined) return Either.right(Confinement.Impossible({ reason }))
    return Either.map(builder.peek(now?.cwd ?? directory, runtime), (built) => {
      const enforced = now?.backend.policy
      const policy = enforced === undefined ? built : SubPolicy.inForce(enforced, built, now?.given)
      return Confinement.Confined({
        hosts: policy.hosts?.allowed.map(({ pattern }) => pattern) ?? [],
        writable: outermost(writable(policy))
      })
    })
  }

/** Returns the paths of rules, without those that lie within another. */
const outermost = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> => {
  const distinct = rules.filter(({ path }, at) => rules.findIndex((other) => other.path === path) === at)
  return distinct
    .filter((rule) => PathRule.make(distinct.filter((other) => other !== rule)).find(rule.path) === undefined)
    .map(({ path }) => path)
}
