/**
 * Runs an agent: asks a model, runs its tool calls, and asks it again until it stops.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type { Described } from "../../command/CommandHandler.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type { Model } from "../model/ModelProvider.js"
import type { AgentEvent } from "./AgentEvent.js"
import * as AgentRun from "./AgentRun.js"
import { AgentSettings } from "./AgentSettings.js"
import * as EventQueue from "./EventQueue.js"

/**
 * The limits of a run; what is not given comes from the settings.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  /** The most requests to the model (`SYNAPSE_MAX_TOOL_ITERATIONS`, 50). */
  readonly maxTurns: number
  /** The most tokens, sent and received, also by sub-agents; undefined for no limit. */
  readonly maxTokens: number | undefined
  /** The most that it may cost, sub-agents included, in the currency of the prices; undefined for no limit. */
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
  readonly instructions?: string | undefined
  /** The commands of ours that its shell has (`CommandRegistry.list`): the system prompt says when to use them. */
  readonly commands?: ReadonlyArray<Described> | undefined
  /** The directory that its shell starts in, which the system prompt names. */
  readonly cwd?: string | undefined
  /** The conversation that is gone on with, wherever it was cut. */
  readonly history?: ReadonlyArray<Prompt.Message> | undefined
  readonly limits?: Partial<Limits> | undefined
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
     * the request to the model and the running commands, and returns when they have ended. Where the steps are not
     * consumed, the run waits.
     *
     * The `CommandListener` of the fiber that runs the stream hears the commands, and its `account` what the run uses.
     */
    readonly run: (run: Run) => Stream.Stream<AgentEvent>
  }
>() {}

/**
 * A layer which runs agents with the settings' limits.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<AgentLoop, never, AgentSettings> = Layer.effect(
  AgentLoop,
  Effect.map(AgentSettings, (settings) => {
    let runs = 0
    return AgentLoop.of({
      run: (run) => EventQueue.stream((events) => AgentRun.run(run, settings, events, `synapse_${++runs}`))
    })
  })
)
