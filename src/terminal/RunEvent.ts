/**
 * The events of a run: tool calls, sub-agents, and the model's text.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Domain from "../domain/SubAgentEvent.js"
import type { SubAgentEvent } from "../domain/SubAgentEvent.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"

/**
 * An event of a run. Texts may contain control characters; the renderer escapes them.
 *
 * @since 0.1.0
 * @category models
 */
export type RunEvent = Data.TaggedEnum<{
  ToolStarted: { readonly call: ToolCall }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  SubAgent: { readonly event: SubAgentEvent }
  /** A part of the model's text. */
  Text: { readonly delta: string }
  /** The request is retried. Discard texts since the last `TurnEnded`. */
  Retrying: Domain.Retrying
  /** The model's turn is over, and its text complete. */
  TurnEnded: Record<never, never>
  /** The running calls ended without a result. */
  Interrupted: Record<never, never>
  /** A line from the program itself. */
  Notice: { readonly text: string }
}>

/**
 * Constructors and matchers of events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const RunEvent = Data.taggedEnum<RunEvent>()
