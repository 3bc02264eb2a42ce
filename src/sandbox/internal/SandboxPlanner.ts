/**
 * Plans the sandbox of a directory, by `sandbox.json` and the settings as of then: its policy, and the provider that makes
 * it.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { PolicyBuilder } from "../config/PolicyBuilder.js"
import type { SandboxConfig } from "../config/SandboxConfig.js"
import type { SandboxConfigError } from "../config/SandboxConfigError.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { SandboxBackend } from "../SandboxBackend.js"
import type { SandboxProviders } from "../SandboxProvider.js"
import type { Plan } from "./CurrentSandbox.js"
import type { RuntimeGrants } from "./RuntimeGrants.js"
import type { UnsandboxedProvider } from "./UnsandboxedProvider.js"

/** The dependencies of `make`. */
export interface PlannerDoor {
  readonly builder: Context.Tag.Service<PolicyBuilder>
  readonly config: Context.Tag.Service<SandboxConfig>
  /** Enables or disables the sandbox; where undefined, `sandbox.json` decides. */
  readonly enabled: boolean | undefined
  readonly grants: RuntimeGrants
  readonly providers: Context.Tag.Service<SandboxProviders>
  readonly unsandboxed: UnsandboxedProvider
}

/** Plans sandboxes. */
export interface SandboxPlanner {
  /** Builds the policy for a directory, with what a person has allowed by now. */
  readonly build: (cwd: string) => Effect.Effect<SandboxPolicy, ExecutionFailed>
  /** Plans the sandbox for a directory. */
  readonly plan: (cwd: string) => Effect.Effect<Plan, ExecutionFailed>
  /** Returns the name of the provider of the last sandbox that was planned. */
  readonly provider: () => string
  /** Keeps the status that the next sandbox begins with as `$?`. */
  readonly keepStatus: (status: number) => void
}

/** Makes the execution error of an error in the configuration. */
export const toFailure = (error: SandboxConfigError): ExecutionFailed =>
  new ExecutionFailed({ kind: "sandbox", reason: error.message, cause: error })

/** Makes a planner. */
export const make = ({ builder, config, enabled, grants, providers, unsandboxed }: PlannerDoor): SandboxPlanner => {
  const isEnabled =
    enabled === undefined
      ? Effect.map(Effect.mapError(config.load, toFailure), (file) => file.enabled)
      : Effect.succeed(enabled)
  const build = (cwd: string) => Effect.mapError(builder.build(cwd, grants), toFailure)
  let name = ""
  let status: number | undefined

  const withStatus = <E>(create: Effect.Effect<SandboxBackend, E>): Effect.Effect<SandboxBackend, E> =>
    Effect.tap(create, ({ setStatus }) => {
      const kept = status
      status = undefined
      return kept === undefined ? Effect.void : (setStatus?.(kept) ?? Effect.void)
    })

  /** Remembers the places that a policy lets commands write, unless they are the sandbox's own. */
  const remember = ({ shown, whitelist }: SandboxPolicy) =>
    shown === undefined ? config.remember(whitelist.map(({ path, real = path }) => real)) : Effect.void

  return {
    build,
    plan: (cwd) =>
      Effect.gen(function* () {
        if (!(yield* isEnabled))
          return { create: withStatus(unsandboxed.create(cwd)), destroy: ({ dispose }) => dispose }
        const { provider } = yield* Effect.mapError(config.load, toFailure)
        const policy = yield* build(cwd)
        yield* config.claim(policy)
        const { create, destroy } = yield* providers.find(provider)
        name = provider
        return { create: withStatus(Effect.zipLeft(create(policy), remember(policy))), destroy }
      }),
    provider: () => name,
    keepStatus: (code) => {
      status = code
    }
  }
}
