/**
 * The interface of sandbox providers, and the registry from which `sandbox.json` chooses one by name.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { ExecutionFailed } from "../domain/CommandError.js"
import { DuplicateName } from "../domain/DuplicateName.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"
import type { SandboxBackend } from "./SandboxBackend.js"

/**
 * Creates and destroys sandboxes of one kind: on this machine, in a container, or in the cloud.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxProvider {
  /** The name that selects it in `sandbox.json`. */
  readonly name: string
  /** False if its sandboxes enforce nothing. By default, they enforce the policy. */
  readonly enforces?: false | undefined
  /** Returns why it can't create a sandbox, as far as that is known without trying. */
  readonly obstacle?: () => string | undefined
  /**
   * Creates a sandbox which enforces the policy. A provider that can't enforce all of it must fail, saying what to do
   * about it, and never enforce less. If creation is interrupted but completes anyway, the sandbox is destroyed.
   */
  readonly create: (policy: SandboxPolicy) => Effect.Effect<SandboxBackend, ExecutionFailed>
  readonly destroy: (backend: SandboxBackend) => Effect.Effect<void>
}

/**
 * The registry of providers by name.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxProviders extends Context.Tag("synapse/SandboxProviders")<
  SandboxProviders,
  {
    /** Returns the provider with this name; fails if none has it. */
    readonly find: (name: string) => Either.Either<SandboxProvider, ExecutionFailed>
    /** Adds a provider; fails with DuplicateName if its name is taken. */
    readonly add: (provider: SandboxProvider) => Effect.Effect<void, DuplicateName>
  }
>() {}

/**
 * Makes an empty registry, as `layer` does.
 *
 * @since 0.1.0
 * @internal
 */
export const make = (): Context.Tag.Service<SandboxProviders> => {
  const providers = new Map<string, SandboxProvider>()
  return {
    find: (name) => {
      const provider = providers.get(name)
      if (provider !== undefined) return Either.right(provider)
      const known = [...providers.keys()].join(", ") || "none"
      const reason = `no sandbox: sandbox.json names the provider ${JSON.stringify(name)}, and there is: ${known}`
      return Either.left(new ExecutionFailed({ kind: "sandbox", reason }))
    },
    add: (provider) =>
      Effect.suspend(() => {
        if (providers.has(provider.name)) return new DuplicateName({ kind: "provider", name: provider.name })
        providers.set(provider.name, provider)
        return Effect.void
      })
  }
}

/**
 * A layer of an empty registry. `layerAdd` adds providers to it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxProviders> = Layer.sync(SandboxProviders, make)

/**
 * A layer which adds a provider to the registry. `sandbox.json` selects it by its name (`"provider": "cloud"`).
 *
 * @example
 * ```ts
 * import { SandboxProvider, Synapse } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * declare const cloud: SandboxProvider.SandboxProvider
 *
 * const app = Synapse.layer({}, { providers: SandboxProvider.layerAdd(Effect.succeed(cloud)) })
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
