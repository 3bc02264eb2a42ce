/**
 * The events of a run, for who shows it: the calls of a tool, their sub-agents, and the model's text.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Domain from "../domain/Retrying.js"
import type { SubAgentEvent } from "../domain/SubAgentEvent.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"

/**
 * An event of a run. Texts are a model's or a command's: the renderer makes control characters harmless.
 *
 * @since 0.1.0
 * @category models
 */
export type RunEvent = Data.TaggedEnum<{
  ToolStarted: { readonly call: ToolCall }
  /** A part of what a running call prints. */
  ToolOutput: { readonly stream: "stdout" | "stderr"; readonly chunk: string }
  ToolEnded: { readonly call: ToolCall; readonly result: ToolReturn }
  SubAgent: { readonly event: SubAgentEvent }
  /** A part of the model's text. */
  Text: { readonly delta: string }
  /** The texts since the last turn ended are void. */
  Retrying: Domain.Retrying
  /** The model's turn is over: its text is whole. */
  TurnEnded: Record<never, never>
  /** The calls that run have ended without a result. */
  Interrupted: Record<never, never>
  /** A line of the program itself. */
  Notice: { readonly text: string }
}>

/**
 * Constructors and matchers of events.
 *
 * @since 0.1.0
 * @category constructors
 */
export const RunEvent = Data.taggedEnum<RunEvent>()
