/**
 * Runs sub-agents: other agents that do a task of their own, and answer with a text.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CommandError } from "../domain/CommandError.js"

/**
 * A type of sub-agents.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentType {
  /** The name after `task:`. */
  readonly name: string
  /** What it is for, in one line of its author's: who shows it makes control characters harmless. */
  readonly description: string
}

/**
 * A task for a sub-agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentTask {
  readonly prompt: string
  /** What it does, in a few words, for who watches it. */
  readonly description: string
  /** The name of a model, in place of its type's or the provider's default. */
  readonly model?: string | undefined
  /** The most turns that it may take. */
  readonly maxTurns?: number | undefined
  /** The skills whose instructions it begins with. */
  readonly skills?: ReadonlyArray<string>
  /** The directory that it starts in. */
  readonly cwd: string
}

/**
 * Runs sub-agents.
 *
 * @since 0.1.0
 * @category tags
 */
export class SubAgentManager extends Context.Tag("synapse/SubAgentManager")<
  SubAgentManager,
  {
    /** Returns the types that there are, sorted by name, as they were found last; the same array until they change. */
    readonly types: () => ReadonlyArray<SubAgentType>
    /**
     * Runs a sub-agent of a type to its end, and returns its final text. Interruption ends its model's request and its
     * commands. Fails with CommandNotFound for an unknown type, with Blocked within a sub-agent, and with
     * ExecutionFailed where no provider is set or where the run failed; the reason then holds what was done so far.
     */
    readonly execute: (type: string, task: SubAgentTask) => Effect.Effect<string, CommandError>
  }
>() {}
