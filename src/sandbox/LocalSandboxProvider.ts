/**
 * The provider named `local`: its sandboxes are enforced by this machine's own kernel.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { SessionSettings } from "../session/SessionSettings.js"
import { ShellBridge } from "../session/ShellBridge.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import { SandboxSettings } from "./config/SandboxSettings.js"
import * as LocalSandboxBackend from "./LocalSandboxBackend.js"
import { SandboxPlatform } from "./platform/SandboxPlatform.js"
import * as SandboxProvider from "./SandboxProvider.js"
import * as UnsandboxedProvider from "./UnsandboxedProvider.js"

/**
 * Makes the provider `local`. Where the platform enforces nothing, its backends are shells without a sandbox.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<
  SandboxProvider.SandboxProvider,
  never,
  SandboxPlatform | SandboxSettings | SessionSettings | ShellBridge
> = Effect.gen(function* () {
  const { userHome } = yield* SandboxSettings
  const { enforces, obstacle } = yield* SandboxPlatform
  const { environment } = yield* SessionSettings
  const free = yield* UnsandboxedProvider.make
  const services = Context.make(SandboxPlatform, yield* SandboxPlatform).pipe(
    Context.add(SessionSettings, yield* SessionSettings),
    Context.add(ShellBridge, yield* ShellBridge)
  )
  return {
    name: "local",
    enforces,
    obstacle: () => obstacle?.(ShellEnvironment.make("", environment)),
    create: (policy) =>
      enforces === false
        ? free.create(policy.cwd)
        : Effect.uninterruptible(
            Effect.gen(function* () {
              const scope = yield* Scope.make()
              const backend = yield* LocalSandboxBackend.make(policy, userHome).pipe(
                Scope.extend(scope),
                Effect.provide(services)
              )
              return { ...backend, dispose: Scope.close(scope, Exit.void) }
            })
          ),
    destroy: (backend) => backend.dispose
  }
})

/**
 * A layer which adds the provider `local` to the registry, unless a provider of that name is there already.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<
  never,
  never,
  SandboxProvider.SandboxProviders | SandboxPlatform | SandboxSettings | SessionSettings | ShellBridge
> = Layer.catchAll(SandboxProvider.layerAdd(make), () => Layer.empty)
