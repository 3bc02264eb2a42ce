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
 * The reason for which a run ended: the model answered (`done`); a limit was reached (`turns`, `tokens`, `budget`); it called its tool
 * wrongly, or the same command failed in its usage, too often in a row (`misuse`); the model could not be asked (`failed`).
 *
 * @since 0.1.0
 * @category models
 */
export type Ending = "done" | "turns" | "tokens" | "budget" | "misuse" | "failed"

/**
 * A step of a run. Texts may hold control characters.
 *
 * @since 0.1.0
 * @category models
 */
export type AgentEvent = Data.TaggedEnum<{
  /** The run has begun. */
  Started: { readonly provider: string; readonly model: string }
  /** A request is sent to the model; turns are counted from 1. */
  TurnStarted: { readonly turn: number }
  /** A part of the model's text. */
  Text: { readonly delta: string }
  /** A part of the model's reasoning. */
  Reasoning: { readonly delta: string }
  /** A request is retried after `delay` ms; `attempt` counts the tries. The turn's texts so far are void. */
  Retrying: { readonly attempt: number; readonly reason: string; readonly delay: number }
  /** The model's turn is whole; `usage` is of this turn. */
  TurnEnded: { readonly turn: number; readonly text: string; readonly usage: TokenUsage }
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  /**
   * Messages were added to the conversation, which a transcript has to keep. The model's message comes before its calls
   * are run; each result is a message of its own. `History.repair` completes a conversation that was cut off.
   */
  Appended: { readonly messages: ReadonlyArray<Prompt.Message> }
  /**
   * The window's share was used up: for the next requests, this many old outputs were replaced by references to files,
   * and this many old messages dropped.
   */
  Compacted: { readonly replaced: number; readonly dropped: number }
  /**
   * The run has ended. `text` is the answer, or the model's last text. `reason` is a line on why the run ended; undefined
   * if it is done. `usage` includes sub-agents.
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
