/** Builds each sub-agent's tools in a separate app, whose policy allows no more than its parent's. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Quote from "../bash/Quote.js"
import type { CommandRegistry } from "../command/CommandRegistry.js"
import * as Attempt from "../domain/Attempt.js"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import type { TodoStore } from "../extension/TodoStore.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import type { Task } from "../sandbox/permission/Permission.js"
import * as Permission from "../sandbox/permission/Permission.js"
import * as SubPolicy from "../sandbox/policy/SubPolicy.js"
import { type InForce, SandboxManager } from "../sandbox/SandboxManager.js"
import * as SessionSettings from "../session/SessionSettings.js"
import type { Toolset } from "../toolset/Toolset.js"

interface Rights {
  /** The directory that its shell starts in; by default, that of its parent's first shell. */
  readonly cwd: string | undefined
  /** True if its sandbox only lets it write temporary files. */
  readonly isReadOnly: boolean
  /** Shown to a person who is asked for permission. */
  readonly task: Task
}

export type Services = CommandRegistry | SandboxManager | TodoStore | Toolset

export interface Tools {
  readonly services: Context.Context<Services>
  readonly cwd: string
}

interface AppSettings {
  readonly session: SessionSettings.Settings
  readonly sandbox: SandboxSettings.Settings
  /** The policy that its sandbox enforces in place of files and settings. Undefined if its parent has no sandbox. */
  readonly policy: InForce | undefined
  /** True if nothing in the app may write outside the sandbox either. */
  readonly isReadOnly: boolean
  /** Asks a person about what the policy denies. */
  readonly permission: Context.Tag.Service<Permission.Permission>
}

/** Builds a sub-agent's app, which shares nothing with others. */
export type MakeApp = (settings: AppSettings) => Effect.Effect<Context.Context<Services>, ConfigError, Scope.Scope>

const failed = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })

const needsSandbox = () =>
  failed(
    "This agent may not write, which only the sandbox can keep it from, and there is no sandbox (it is disabled): nothing was run. task:general does without one."
  )

const realOf = (path: string): ReadonlyArray<string> => Attempt.orElse(() => [Fs.realpathSync(path)], [])

/** Returns the real paths of a sandbox's private temporary directories. On macOS, it creates one. */
const temporaryDirectories: Effect.Effect<ReadonlyArray<string>, ExecutionFailed, Scope.Scope> = process.platform ===
"darwin"
  ? Effect.acquireRelease(
      Effect.try({
        try: () => [Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-agent-"))],
        catch: (error) => failed(`no directory for temporary files could be made: ${error}`)
      }),
      (made) => Effect.sync(() => made.map((path) => Fs.rmSync(path, { recursive: true, force: true })))
    )
  : Effect.sync(() => [...new Set(["/tmp", "/var/tmp"].flatMap(realOf))])

/** Changes the directory in the shell itself, so that only directories inside the sandbox can be entered. */
const enter = (manager: Context.Tag.Service<SandboxManager>, cwd: string): Effect.Effect<void, CommandError> =>
  Effect.flatMap(manager.execute(`cd -- ${Quote.quote(cwd)}`), ({ blockedReason, exitCode, stderr }) =>
    exitCode === 0
      ? Effect.void
      : new ExecutionFailed({
          kind: "io",
          reason: `The sub-agent can't start in ${UntrustedText.line(cwd, 500)}: ${blockedReason ?? UntrustedText.line(stderr, 300)}`
        })
  )

/**
 * Returns a function that makes a sub-agent's tools: a shell, a task list, and its parent's current policy or a
 * narrower one. The tools end with the scope. Fails with ExecutionFailed if the policy can't be enforced.
 */
export const make = (
  app: MakeApp
): Effect.Effect<
  (rights: Rights) => Effect.Effect<Tools, CommandError, Scope.Scope>,
  never,
  Permission.Permission | SandboxManager | SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
> =>
  Effect.gen(function* () {
    const parent = yield* SandboxManager
    const permission = yield* Permission.Permission
    const sandbox = yield* SandboxSettings.SandboxSettings
    const session = yield* SessionSettings.SessionSettings

    return Effect.fn("AgentTools.make")(function* ({ cwd, isReadOnly, task }: Rights) {
      const inForce = yield* parent.inForce
      if (inForce === undefined && isReadOnly) return yield* needsSandbox()
      const allowed =
        inForce === undefined || !isReadOnly
          ? inForce?.policy
          : SubPolicy.readOnly(inForce.policy, yield* temporaryDirectories)
      const policy = allowed === undefined ? undefined : ({ ...allowed, unattended: true } as const)
      const start = policy?.cwd ?? session.cwd ?? process.cwd()
      const [temporary] = isReadOnly ? (policy?.whitelist ?? []) : []
      const environment = { ...session.environment, ...(temporary === undefined ? {} : { TMPDIR: temporary.path }) }
      const built = yield* app({
        session: { ...session, cwd: start, environment, terminal: undefined },
        // The parent has decided this, so the settings must not decide again.
        sandbox: { ...sandbox, enabled: policy !== undefined },
        policy: inForce === undefined || policy === undefined ? undefined : { ...inForce, policy },
        isReadOnly,
        permission: Permission.forTask(permission, task, isReadOnly)
      }).pipe(Effect.mapError((error) => failed(`The sub-agent can't be started: ${error}`)))
      yield* enter(Context.get(built, SandboxManager), cwd ?? start)
      return { services: built, cwd: cwd ?? start }
    })
  })
