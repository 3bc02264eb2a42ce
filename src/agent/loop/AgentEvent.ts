/**
 * The steps of an agent's run, for who shows or records them.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import * as Data from "effect/Data"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import type { TokenUsage } from "./TokenUsage.js"

/**
 * The reason for which a run ended: the model answered (`done`); a limit was reached (`turns`, `tokens`, `budget`); it called its tool
 * wrongly too often in a row (`misuse`); the model could not be asked (`failed`).
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
  /** A request is tried again: how often it was tried, why, and after how many milliseconds. */
  Retrying: { readonly attempt: number; readonly reason: string; readonly delay: number }
  /** The model's turn is whole; `usage` is of this turn. */
  TurnEnded: { readonly turn: number; readonly text: string; readonly usage: TokenUsage }
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  /** Messages were added to the conversation: what a transcript has to keep for the run to be resumed. */
  Appended: { readonly messages: ReadonlyArray<Prompt.Message> }
  /** Old outputs were replaced by references to their files, since the window's share was used up. */
  Compacted: { readonly replaced: number }
  /** The run has ended. `text` is the model's last text, or what was done so far. */
  Ended: { readonly ending: Ending; readonly text: string; readonly usage: TokenUsage; readonly turns: number }
}>

/**
 * Constructors and matchers of events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const AgentEvent = Data.taggedEnum<AgentEvent>()
