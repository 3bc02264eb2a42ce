/**
 * What makes sandboxes: the port, and the registry that `sandbox.json` chooses from by name.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExecutionFailed } from "../domain/CommandError.js"
import { DuplicateName } from "../domain/DuplicateName.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import type { SandboxBackend } from "./SandboxBackend.js"

/**
 * Makes and ends sandboxes of one kind: on this machine, in a container, in the cloud.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxProvider {
  /** The name in `sandbox.json`. */
  readonly name: string
  /**
   * Fails, with what to do about it, where it can't enforce the policy: never by enforcing less. Whoever waits for it may be
   * interrupted; then it is interrupted too, and what it has made all the same is destroyed.
   */
  readonly create: (policy: SandboxPolicy) => Effect.Effect<SandboxBackend, ExecutionFailed>
  readonly destroy: (backend: SandboxBackend) => Effect.Effect<void>
}

/**
 * The providers that there are, by name.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxProviders extends Context.Tag("synapse/SandboxProviders")<
  SandboxProviders,
  {
    /** Fails where no provider has that name. */
    readonly find: (name: string) => Effect.Effect<SandboxProvider, ExecutionFailed>
    /** Adds a provider; two of the same name are refused. */
    readonly add: (provider: SandboxProvider) => Effect.Effect<void, DuplicateName>
  }
>() {}

/**
 * Without any provider; `layerAdd` brings them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxProviders> = Layer.sync(SandboxProviders, () => {
  const providers = new Map<string, SandboxProvider>()
  return SandboxProviders.of({
    find: (name) => {
      const provider = providers.get(name)
      if (provider !== undefined) return Effect.succeed(provider)
      const known = [...providers.keys()].join(", ") || "none"
      const reason = `no sandbox: sandbox.json names the provider ${JSON.stringify(name)}, and there is: ${known}`
      return new ExecutionFailed({ cause: "sandbox", reason })
    },
    add: (provider) =>
      Effect.suspend(() => {
        if (providers.has(provider.name)) return new DuplicateName({ kind: "provider", name: provider.name })
        providers.set(provider.name, provider)
        return Effect.void
      })
  })
})

/**
 * Adds a provider. `sandbox.json` chooses it by its name (`"provider": "cloud"`).
 *
 * @example
 * ```ts
 * import { SandboxProvider, Synapse } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * declare const cloud: SandboxProvider.SandboxProvider
 *
 * const house = Synapse.layer({}, { providers: SandboxProvider.layerAdd(Effect.succeed(cloud)) })
 * ```
 * @since 0.1.0
 * @category layers
 */
export const layerAdd = <R>(
  provider: Effect.Effect<SandboxProvider, never, R>
): Layer.Layer<never, DuplicateName, SandboxProviders | R> =>
  Layer.effectDiscard(
    Effect.flatMap(provider, (made) => Effect.flatMap(SandboxProviders, (providers) => providers.add(made)))
  )
