/** A manager over a provider that notes what it is asked for, or over this machine's own sandbox. */

import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "../../../src/bridge/Bridge.js"
import * as CommandRegistry from "../../../src/command/CommandRegistry.js"
import type { CommandError, ExecutionFailed } from "../../../src/domain/CommandError.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../../../src/sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import type { Grant, NotThere, SandboxBackend, SandboxResult } from "../../../src/sandbox/SandboxBackend.js"
import * as SandboxManager from "../../../src/sandbox/SandboxManager.js"
import * as SandboxProvider from "../../../src/sandbox/SandboxProvider.js"
import * as SessionSettings from "../../../src/session/SessionSettings.js"

/** What a fake sandbox answers; `made` is the number of the sandbox, from 1. */
export type Script = (
  command: string,
  made: number
) => Effect.Effect<Partial<SandboxResult>, CommandError> | Partial<SandboxResult>

/** A provider whose sandboxes note all that happens to them, in order. */
export class FakeProvider {
  readonly name = "local"
  readonly events: Array<string> = []
  readonly policies: Array<SandboxPolicy> = []
  /** Before a sandbox is there. */
  creating: Effect.Effect<void, ExecutionFailed> = Effect.void
  /** Before a shell has ended that is restarted. */
  restarting: Effect.Effect<void> = Effect.void
  /** Before a sandbox has ended. */
  disposing: Effect.Effect<void> = Effect.void
  granting: Effect.Effect<void, ExecutionFailed | NotThere> = Effect.void
  revoking: Effect.Effect<void, ExecutionFailed> = Effect.void

  constructor(private readonly script: Script = () => ({})) {}

  readonly create = (policy: SandboxPolicy): Effect.Effect<SandboxBackend, ExecutionFailed> =>
    Effect.suspend(() => {
      this.policies.push(policy)
      const made = this.policies.length
      const note = (event: string) => Effect.sync(() => void this.events.push(`${event} ${made}`))
      const change = (what: string, { access, resource }: Grant) => note(`${what} ${access} ${resource} in`)
      const turn: Required<Pick<SandboxBackend, "execute" | "grant" | "revoke">> = {
        execute: (command) =>
          Effect.zipRight(
            note(`run ${command} in`),
            Effect.suspend(() => {
              const answer = this.script(command, made)
              return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
            })
          ).pipe(Effect.map((fields) => ({ blocked: false, ...CommandResult.make(fields) }))),
        grant: (grant) => Effect.zipRight(change("grant", grant), this.granting),
        revoke: (grant) => Effect.zipRight(change("revoke", grant), this.revoking)
      }
      const turns = Effect.unsafeMakeSemaphore(1).withPermits(1)
      const backend: SandboxBackend = {
        policy,
        execute: (command) => turns(turn.execute(command)),
        grant: turn.grant,
        revoke: turn.revoke,
        restart: Effect.zipRight(
          Effect.suspend(() => this.restarting),
          note("restart")
        ),
        cwd: Effect.succeed(policy.cwd),
        setStatus: (status) => note(`status ${status} in`),
        dispose: Effect.zipRight(this.disposing, note("dispose"))
      }
      return this.creating.pipe(Effect.zipRight(note("create")), Effect.as(backend))
    })

  readonly destroy = (backend: SandboxBackend) => Effect.zipRight(Effect.void, backend.dispose)
}

export interface Options {
  readonly home: string
  readonly cwd: string
  readonly settings?: Partial<SandboxSettings.Settings>
  readonly permission?: Layer.Layer<Permission.Permission>
}

/** `sandbox.json` in `home`, and no other secrets than those of the test. */
const layer = (
  provider: SandboxProvider.SandboxProvider,
  { cwd, home, permission = Permission.layerNone, settings }: Options
): Layer.Layer<SandboxManager.SandboxManager> =>
  SandboxManager.layer.pipe(
    Layer.provide(Layer.orDie(SandboxProvider.layerAdd(Effect.succeed(provider)))),
    Layer.provide(SandboxProvider.layer),
    Layer.provide(PolicyBuilder.layer),
    Layer.provide(SandboxConfig.layer),
    Layer.provide(permission),
    Layer.provide(SandboxSettings.layer({ home, userHome: "/home/ada", temporary: "/tmp", program: [], ...settings })),
    Layer.provide(Bridge.layer),
    Layer.provide(CommandRegistry.layer),
    Layer.provide(SessionSettings.layer({ cwd })),
    Layer.provide(NodeFileSystem.layer)
  )

type Manager = Context.Tag.Service<SandboxManager.SandboxManager>

/** Runs over a manager that ends with it. */
export const withManager = <A, E>(
  provider: SandboxProvider.SandboxProvider,
  options: Options,
  use: (manager: Manager) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.provide(Effect.flatMap(SandboxManager.SandboxManager, use), layer(provider, options))

/** What a fake sandbox says of a denial. */
export const denied = (
  resource: string,
  how: "preflight" | "verified-text" = "preflight",
  more: Partial<SandboxResult["denial"]> = {}
): Partial<SandboxResult> => ({
  exitCode: how === "preflight" ? 126 : 1,
  blocked: true,
  blockedReason: `Blocked by the sandbox: reading ${resource}`,
  blockedResource: "*.pem",
  blockedRule: "*.pem",
  denial: { resource, access: "read", rule: "*.pem", source: "user", reason: "a secret", how, ...more }
})
