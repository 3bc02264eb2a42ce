/** Makes the backends that are used where the sandbox is disabled: shells with all rights of the user. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as BashSession from "../../session/BashSession.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import { ShellBridge } from "../../session/ShellBridge.js"
import type { ShellLauncher } from "../../session/ShellLauncher.js"
import * as SandboxPlatform from "../platform/SandboxPlatform.js"
import { type SandboxBackend, unsandboxed } from "../SandboxBackend.js"

/** Creates backends over a shell which starts in `cwd` and has all rights of the user. */
export interface UnsandboxedProvider {
  readonly create: (cwd: string) => Effect.Effect<SandboxBackend>
}

const launcher: ShellLauncher = (request) =>
  Effect.map(SandboxPlatform.none.wrap(request), (wrapped) => ({
    ...wrapped,
    isTrial: false,
    ready: Effect.succeed(""),
    prove: () => Effect.void,
    started: Effect.void,
    explain: () => undefined
  }))

/** Makes a provider whose backends enforce nothing. */
export const make: Effect.Effect<UnsandboxedProvider, never, SessionSettings | ShellBridge> = Effect.gen(function* () {
  const settings = yield* SessionSettings
  const bridge = Context.make(ShellBridge, yield* ShellBridge)
  return {
    create: (cwd) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const session = yield* BashSession.make(launcher).pipe(
            Scope.extend(scope),
            Effect.provide(Context.add(bridge, SessionSettings, { ...settings, cwd }))
          )
          return { ...unsandboxed(session), dispose: Scope.close(scope, Exit.void) }
        })
      )
  }
})
