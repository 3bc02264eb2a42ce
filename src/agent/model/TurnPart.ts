/** The parts of a model's turn. */
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Data from "effect/Data"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { Retrying } from "./internal/Retry.js"

/** A part of a model's turn. The last one is `Finished`; where there is none, the stream fails. */
export type TurnPart = Data.TaggedEnum<{
  /** A part of the model's text. */
  Text: { readonly delta: string }
  /** A part of what the model thought. */
  Reasoning: { readonly delta: string }
  /** A part of a call's arguments. */
  Arguments: { readonly delta: string }
  /** The request failed and is tried again: all parts before this one are void. */
  Retrying: Retrying
  Finished: Finished
}>

/** Constructors and matchers of parts. */
export const TurnPart = Data.taggedEnum<TurnPart>()

/** A whole turn. */
export interface Finished {
  /** `length` where the answer was cut, so that the last call's arguments may be half; `content-filter` for a refusal. */
  readonly reason: Response.FinishReason
  readonly text: string
  /** The calls in their order. Each has an id of its own; its `arguments` are the text that the model wrote. */
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: Usage
  /** The turn as the conversation goes on with it; undefined where the model said nothing at all. */
  readonly message: Prompt.AssistantMessage | undefined
}

/** The tokens of a turn. */
export interface Usage {
  /** All tokens that were sent, also those that the provider read from its cache. */
  readonly input: number
  readonly output: number
  /** The part of `input` that was read from the provider's cache. */
  readonly cached: number
  /** True where the provider did not tell, so that four characters are taken for a token. */
  readonly isEstimated: boolean
}
