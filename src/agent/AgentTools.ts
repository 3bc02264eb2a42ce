/**
 * Makes the tools of an agent: a toolset and a shell of its own.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CommandError } from "../domain/CommandError.js"
import type { Toolset } from "../toolset/Toolset.js"

/**
 * The rights of an agent's tools.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rights {
  /** The directory that its shell starts in. */
  readonly cwd: string
  /** True where its sandbox lets it write nowhere but to a temporary directory of its own. */
  readonly isReadOnly: boolean
}

/**
 * Makes the tools of sub-agents, under the restrictions of the agent that starts them.
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentTools extends Context.Tag("synapse/AgentTools")<
  AgentTools,
  {
    /** Makes the tools of a sub-agent, which end with the scope: a shell, a todo list and a policy of its own. */
    readonly make: (rights: Rights) => Effect.Effect<Context.Tag.Service<Toolset>, CommandError, Scope.Scope>
  }
>() {}
