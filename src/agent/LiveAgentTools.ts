/** Makes the tools of sub-agents in houses of their own, under policies that allow no more than their parent's. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Quote from "../bash/Quote.js"
import type { Described } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import type { Task } from "../sandbox/permission/Permission.js"
import * as Permission from "../sandbox/permission/Permission.js"
import * as SubPolicy from "../sandbox/policy/SubPolicy.js"
import { type InForce, SandboxManager } from "../sandbox/SandboxManager.js"
import * as SessionSettings from "../session/SessionSettings.js"
import { Toolset } from "../toolset/Toolset.js"

/** The rights of a sub-agent's tools. */
interface Rights {
  /** The directory that its shell goes to; by default, that which its parent's first shell started in. */
  readonly cwd: string | undefined
  /** True where its sandbox lets it write nowhere but to temporary files of its own. */
  readonly isReadOnly: boolean
  /** The task that questions for permission name. */
  readonly task: Task
}

/** The tools of a sub-agent. */
export interface Tools {
  readonly toolset: Context.Tag.Service<Toolset>
  /** Returns the commands that only its shell has. */
  readonly commands: () => ReadonlyArray<Described>
  /** The directory that its shell is in at first. */
  readonly cwd: string
}

/** Makes the tools of sub-agents, under the restrictions of the agent that starts them. */
export class AgentTools extends Context.Tag("synapse/AgentTools")<
  AgentTools,
  {
    /**
     * Makes the tools of a sub-agent, which end with the scope: a shell, a list of tasks and a policy of its own. The policy
     * is that of its parent by now, or one that allows less. Fails with ExecutionFailed where it can't be enforced.
     */
    readonly make: (rights: Rights) => Effect.Effect<Tools, CommandError, Scope.Scope>
  }
>() {}

/** The settings of a sub-agent's house. */
export interface HouseSettings {
  readonly session: SessionSettings.Settings
  readonly sandbox: SandboxSettings.Settings
  /** The policy that its sandbox enforces, whatever files and settings say; undefined where its parent has no sandbox. */
  readonly policy: InForce | undefined
  /** True where nothing in it may write outside of the sandbox either. */
  readonly isReadOnly: boolean
  /** Asks a person for what its policy denies. */
  readonly permission: Context.Tag.Service<Permission.Permission>
}

/** Makes the house of a sub-agent, which shares nothing with others. */
export type MakeHouse = (
  settings: HouseSettings
) => Layer.Layer<CommandRegistry | SandboxManager | Toolset, ConfigError>

const failed = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })

const unheld = () =>
  failed(
    "This sub-agent may not write, which only the sandbox can keep it from, and there is no sandbox (it is disabled): nothing was run. task:general does without one."
  )

const realOf = (path: string): ReadonlyArray<string> => {
  try {
    return [Fs.realpathSync(path)]
  } catch {
    return []
  }
}

/**
 * Returns the directories that a sandbox has of its own, by their real paths: on Linux, it replaces the system's; on macOS, a
 * new one is made.
 */
const ownPlaces: Effect.Effect<ReadonlyArray<string>, ExecutionFailed, Scope.Scope> = process.platform === "darwin"
  ? Effect.acquireRelease(
      Effect.try({
        try: () => [Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-agent-"))],
        catch: (error) => failed(`no directory for temporary files could be made: ${error}`)
      }),
      (made) => Effect.sync(() => made.map((path) => Fs.rmSync(path, { recursive: true, force: true })))
    )
  : Effect.sync(() => [...new Set(["/tmp", "/var/tmp"].flatMap(realOf))])

/** Goes to a directory in the shell itself: only what its sandbox shows can be entered. */
const enter = (manager: Context.Tag.Service<SandboxManager>, cwd: string): Effect.Effect<void, CommandError> =>
  Effect.flatMap(manager.execute(`cd -- ${Quote.quote(cwd)}`), ({ blockedReason, exitCode, stderr }) =>
    exitCode === 0
      ? Effect.void
      : new ExecutionFailed({
          kind: "io",
          reason: `The sub-agent can't start in ${ForeignText.line(cwd, 500)}: ${blockedReason ?? ForeignText.line(stderr, 300)}`
        })
  )

/** A layer which makes the tools of sub-agents in houses that `house` makes. */
export const layer = (
  house: MakeHouse
): Layer.Layer<
  AgentTools,
  never,
  Permission.Permission | SandboxManager | SandboxSettings.SandboxSettings | SessionSettings.SessionSettings
> =>
  Layer.effect(
    AgentTools,
    Effect.gen(function* () {
      const parent = yield* SandboxManager
      const permission = yield* Permission.Permission
      const sandbox = yield* SandboxSettings.SandboxSettings
      const session = yield* SessionSettings.SessionSettings
      const directory = session.cwd ?? process.cwd()

      const make = Effect.fn("AgentTools.make")(function* ({
        cwd,
        isReadOnly,
        task
      }: Rights): Effect.fn.Return<Tools, CommandError, Scope.Scope> {
        const inForce = yield* parent.inForce
        if (inForce === undefined && isReadOnly) return yield* unheld()
        const allowed =
          inForce === undefined || !isReadOnly ? inForce?.policy : SubPolicy.readOnly(inForce.policy, yield* ownPlaces)
        const policy = allowed === undefined ? undefined : ({ ...allowed, unattended: true } as const)
        const start = policy?.cwd ?? directory
        const [temporary] = isReadOnly ? (policy?.whitelist ?? []) : []
        const built = yield* Layer.build(
          house({
            session: {
              ...session,
              cwd: start,
              environment:
                temporary === undefined ? session.environment : { ...session.environment, TMPDIR: temporary.path }
            },
            // What enables a sandbox is decided already; it must not be asked again.
            sandbox: { ...sandbox, enabled: policy !== undefined },
            policy: inForce === undefined || policy === undefined ? undefined : { ...inForce, policy },
            isReadOnly,
            permission: Permission.forTask(permission, task, isReadOnly)
          })
        ).pipe(Effect.mapError((error) => failed(`The sub-agent can't be started: ${error}`)))
        const goal = cwd ?? start
        yield* enter(Context.get(built, SandboxManager), goal)
        const registry = Context.get(built, CommandRegistry)
        return {
          toolset: Context.get(built, Toolset),
          commands: registry.listed,
          cwd: goal
        }
      })

      return AgentTools.of({ make })
    })
  )
