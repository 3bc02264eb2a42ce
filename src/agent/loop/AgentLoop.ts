/**
 * Runs an agent: asks a model, runs its tool calls, and asks it again until it stops.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"
import type { Toolset } from "../../toolset/Toolset.js"
import type { Model } from "../model/ModelProvider.js"
import type { AgentEvent } from "./AgentEvent.js"

/**
 * The limits of a run; what is not given comes from the settings.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  /** The most requests to the model (`SYNAPSE_MAX_TOOL_ITERATIONS`, 50). */
  readonly maxTurns: number
  /** The most tokens, sent and received; undefined for no limit. */
  readonly maxTokens: number | undefined
  /** The most that it may cost, in the currency of the prices; undefined for no limit. */
  readonly budget: number | undefined
  /** The most `task:*` calls of one turn that run side by side (`SYNAPSE_MAX_PARALLEL_TASKS`, 5). */
  readonly maxParallelTasks: number
}

/**
 * A task for an agent, with the model and the tools to do it with.
 *
 * @since 0.1.0
 * @category models
 */
export interface Run {
  readonly prompt: string
  readonly model: Model
  readonly toolset: Context.Tag.Service<Toolset>
  /** Text that is added to the system prompt: of a type of sub-agents, of a skill. */
  readonly instructions?: string
  /** The conversation that is gone on with. */
  readonly history?: ReadonlyArray<Prompt.Message>
  readonly limits?: Partial<Limits>
}

/**
 * Runs agents.
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentLoop extends Context.Tag("synapse/AgentLoop")<
  AgentLoop,
  {
    /**
     * Returns the steps of a run as they come; the last one is `Ended`, however it ended. Interrupting the stream ends
     * the request to the model and the running commands.
     */
    readonly run: (run: Run) => Stream.Stream<AgentEvent>
  }
>() {}
