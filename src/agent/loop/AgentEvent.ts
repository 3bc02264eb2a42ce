/**
 * The steps of an agent's run.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import * as Data from "effect/Data"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import type { TokenUsage } from "./RunLimits.js"

/**
 * The reason why a run ended:
 * - `done`: the model answered.
 * - `turns`, `tokens`, `budget`: a limit was reached.
 * - `misuse`: too many wrong tool calls in a row, or the same command failed too often by wrong usage.
 * - `failed`: the model could not be asked, or refused.
 *
 * @since 0.1.0
 * @category models
 */
export type Ending = "done" | "turns" | "tokens" | "budget" | "misuse" | "failed"

/**
 * A step of a run. Texts may contain control characters.
 *
 * @since 0.1.0
 * @category models
 */
export type AgentEvent = Data.TaggedEnum<{
  Started: { readonly provider: string; readonly model: string }
  /** A request is sent to the model. Turns count from 1. */
  TurnStarted: { readonly turn: number }
  /** A part of the model's text. */
  Text: { readonly delta: string }
  /** A part of the model's reasoning. */
  Reasoning: { readonly delta: string }
  /** A request is retried after `delay` ms; `attempt` counts the tries. Discard the turn's texts so far. */
  Retrying: { readonly attempt: number; readonly reason: string; readonly delay: number }
  /** The model's turn is complete. `usage` is this turn's. */
  TurnEnded: { readonly turn: number; readonly text: string; readonly usage: TokenUsage }
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  /**
   * Messages were added to the conversation, for a transcript to keep. The model's message comes before its calls run,
   * and each result is a separate message. `History.repair` completes a conversation that was cut off.
   */
  Appended: { readonly messages: ReadonlyArray<Prompt.Message> }
  /**
   * The conversation used up its share of the window. For the next requests, `replaced` old outputs became references
   * to files, and `dropped` old messages were removed.
   */
  Compacted: { readonly replaced: number; readonly dropped: number }
  /**
   * The run has ended. `text` is the answer, or the model's last text. `reason` explains in one line any ending but
   * `done`. `usage` includes sub-agents.
   */
  Ended: {
    readonly ending: Ending
    readonly text: string
    readonly reason: string | undefined
    readonly usage: TokenUsage
    readonly turns: number
  }
}>

/**
 * Constructors and matchers of events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const AgentEvent = Data.taggedEnum<AgentEvent>()
