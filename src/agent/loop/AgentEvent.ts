/**
 * The steps of an agent's run, for who shows or records them.
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
 * A step of a run. Texts are the model's or a command's: who shows them makes control characters harmless.
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
  /** A part of what the model thinks before it answers, where the provider tells it. */
  Reasoning: { readonly delta: string }
  /**
   * A request is tried again: how often it was tried, why, and after how many milliseconds. The turn's texts so far are
   * void.
   */
  Retrying: { readonly attempt: number; readonly reason: string; readonly delay: number }
  /** The model's turn is whole; `usage` is of this turn. */
  TurnEnded: { readonly turn: number; readonly text: string; readonly usage: TokenUsage }
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  /**
   * Messages were added to the conversation: what a transcript has to keep for the run to be resumed. The model's message
   * comes before its calls are run, and the run waits until the consumer asks for the next event; then the result of each
   * call comes as it ends, in a message of its own. `History.repair` puts what was cut off in order again.
   */
  Appended: { readonly messages: ReadonlyArray<Prompt.Message> }
  /**
   * So many old outputs were replaced by references to their files, and so many old messages left out, since the window's
   * share was used up: `messages` are those that are left. Those that were `Appended` before stay what they are.
   */
  Compacted: { readonly replaced: number; readonly dropped: number; readonly messages: ReadonlyArray<Prompt.Message> }
  /**
   * The run has ended. `text` is the model's last text: the answer, or what was done so far. `reason` is a line on why it
   * ended and how to go on; undefined where it is done. `usage` holds that of sub-agents too.
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
