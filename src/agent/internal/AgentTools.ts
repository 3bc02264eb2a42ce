/** Makes the tools of a sub-agent: a toolset and a shell of its own. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Described } from "../../command/CommandHandler.js"
import type { CommandError } from "../../domain/CommandError.js"
import type { Task } from "../../sandbox/permission/Permission.js"
import type { Toolset } from "../../toolset/Toolset.js"

/** The rights of a sub-agent's tools. */
export interface Rights {
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
