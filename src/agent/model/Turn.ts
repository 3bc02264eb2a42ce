/**
 * Asks a model for one turn: its text, its tool calls, and what it used. It is the one door of an agent to a model.
 *
 * Tool calls come as they were written: also of tools that are not there, and also with arguments that are no JSON.
 * With a LanguageModel of another provider of `@effect/ai`, such a call fails the turn.
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TextCut from "../../domain/TextCut.js"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolDefinition } from "../../toolset/Tool.js"
import type { Retrying } from "./internal/Retry.js"
import * as Retry from "./internal/Retry.js"
import { fromAiError, fromEvent, ModelError } from "./ModelError.js"
import type { Model } from "./ModelProvider.js"

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
interface Usage {
  /** All tokens that were sent, also those that the provider read from its cache. */
  readonly input: number
  readonly output: number
  /** The part of `input` that was read from the provider's cache. */
  readonly cached: number
  /** True where the provider did not tell, so that four characters are taken for a token. */
  readonly isEstimated: boolean
}

type Metadata = Record<string, Record<string, unknown> | undefined>

/** A block of the turn in the making. */
type Block =
  | { readonly type: "text" | "reasoning"; text: string; options: Metadata }
  | { readonly type: "call"; readonly id: string; readonly name: string; text: string; options: Metadata }

/** The most calls of one turn, and the most blocks. */
const mostCalls = 128
const mostBlocks = 1024

/**
 * The most characters of an answer, and the most parts that it comes in: a model that repeats itself without an end stops
 * there.
 */
export const limits = { characters: 16 * 1024 * 1024, parts: 500_000 }

/** Takes the parts of an answer, and returns what they add to the turn. */
interface TurnRecorder {
  readonly accept: (
    part: Response.StreamPart<Record<string, AiTool.Any>>
  ) => Effect.Effect<ReadonlyArray<TurnPart>, ModelError>
  readonly isFinished: () => boolean
}

/** Makes a recorder of one turn; the tokens of the prompt are estimated where the provider does not tell. */
export const make = (prompt: Prompt.Prompt): TurnRecorder => {
  const blocks = new Map<string, Block>()
  let isFinished = false
  let characters = 0
  let parts = 0

  const block = (key: string, make: () => Block): Block => {
    const known = blocks.get(key)
    if (known !== undefined) return known
    const made = make()
    blocks.set(key, made)
    return made
  }
  const callBlock = ({ id, name }: { id: string; name: string }): Block =>
    block(`call/${id}`, () => ({ type: "call", id, name: TextCut.startOf(name, longestName), text: "", options: {} }))
  const said = (
    type: "text" | "reasoning",
    { delta = "", id, metadata }: { delta?: string; id: string; metadata: Metadata }
  ) => {
    const open = block(`${type}/${id}`, () => ({ type, text: "", options: {} }))
    open.text += delta
    merge(open.options, metadata)
    if (delta === "") return []
    return [type === "text" ? TurnPart.Text({ delta }) : TurnPart.Reasoning({ delta })]
  }

  const accept: TurnRecorder["accept"] = (part) => {
    if (isFinished) return Effect.succeed([])
    characters += "delta" in part ? part.delta.length : 0
    if (++parts > limits.parts || characters > limits.characters) {
      return Effect.fail(new ModelError({ kind: "too_long", reason: "The model's answer is too long: it was stopped" }))
    }
    if (blocks.size > mostBlocks)
      return Effect.fail(new ModelError({ kind: "broken", reason: "The model's answer has too many parts" }))
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return Effect.succeed(said("text", part))
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return Effect.succeed(said("reasoning", part))
      case "tool-params-start": {
        if (part.providerExecuted) return Effect.succeed([])
        const call = callBlock(part)
        merge(call.options, part.metadata)
        return Effect.succeed([])
      }
      case "tool-params-delta": {
        const call = blocks.get(`call/${part.id}`)
        if (call === undefined || part.delta === "") return Effect.succeed([])
        call.text += part.delta
        return Effect.succeed([TurnPart.Arguments({ delta: part.delta })])
      }
      case "tool-call": {
        if (part.providerExecuted) return Effect.succeed([])
        const call = callBlock(part)
        if (call.text === "") call.text = JSON.stringify(part.params ?? {})
        merge(call.options, part.metadata)
        return Effect.succeed([])
      }
      case "error":
        return Effect.fail(fromEvent(part.error))
      case "finish": {
        isFinished = true
        const all = [...blocks.values()]
        const kept = firstCalls(all)
        const calls = callsOf(kept)
        return Effect.succeed([
          TurnPart.Finished({
            reason: part.reason,
            text: all.map((one) => (one.type === "text" ? one.text : "")).join(""),
            calls,
            usage: usageOf(part.usage, prompt, all),
            message: messageOf(kept, calls)
          })
        ])
      }
      default:
        return Effect.succeed([])
    }
  }
  return { accept, isFinished: () => isFinished }
}

const merge = (options: Metadata, metadata: Metadata): void => {
  for (const [name, value] of Object.entries(metadata)) options[name] = { ...options[name], ...value }
}

/** Leaves out the calls beyond the most of a turn, as if the model had not made them: it makes them again. */
const firstCalls = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  let calls = 0
  return blocks.filter((block) => block.type !== "call" || ++calls <= mostCalls)
}

const callsOf = (blocks: ReadonlyArray<Block>): ReadonlyArray<ToolCall> =>
  blocks.flatMap((block) =>
    block.type === "call"
      ? [{ id: block.id, name: block.name, arguments: block.text.trim() === "" ? "{}" : block.text }]
      : []
  )

const messageOf = (
  blocks: ReadonlyArray<Block>,
  calls: ReadonlyArray<ToolCall>
): Prompt.AssistantMessage | undefined => {
  const left = [...calls]
  const content = blocks.flatMap((block): ReadonlyArray<Prompt.AssistantMessagePart> => {
    if (block.type === "call") {
      const { arguments: text, id, name } = left.shift() as ToolCall
      const params = paramsOf(text)
      return [Prompt.toolCallPart({ id, name, params, providerExecuted: false, options: block.options })]
    }
    if (block.text === "" && Object.keys(block.options).length === 0) return []
    return [
      block.type === "text"
        ? Prompt.textPart({ text: block.text, options: block.options })
        : Prompt.reasoningPart({ text: block.text, options: block.options })
    ]
  })
  return content.length === 0 ? undefined : Prompt.assistantMessage({ content })
}

/** Returns the arguments as an object, which is what providers take back; text that is none stays readable in it. */
const paramsOf = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text)
    // What is nested too deep can't be written again.
    JSON.stringify(value)
    return Predicate.isReadonlyRecord(value) ? value : { invalid_arguments: text }
  } catch {
    return { invalid_arguments: text }
  }
}

/** A larger number of tokens is none; sums of such numbers stay exact. */
const mostTokens = 1e12

/** The most characters of a tool's name that are kept: one that is there has fewer. */
const longestName = 200

const tokensOf = (characters: number): number => Math.ceil(characters / 4)

/** An image has few tokens for its bytes. */
const withoutImages = (key: string, value: unknown): unknown => (key === "base64" ? "" : value)

const usageOf = (usage: Response.Usage, prompt: Prompt.Prompt, blocks: ReadonlyArray<Block>): Usage => {
  const told = (count: number | undefined) =>
    count !== undefined && count >= 0 && count <= mostTokens ? count : undefined
  const [input, output] = [told(usage.inputTokens), told(usage.outputTokens)]
  return {
    input: input ?? tokensOf(JSON.stringify(prompt.content, withoutImages).length),
    output: output ?? tokensOf(blocks.reduce((sum, { text }) => sum + text.length, 0)),
    cached: Math.min(told(usage.cachedInputTokens) ?? 0, input ?? 0),
    isEstimated: input === undefined || output === undefined
  }
}

/**
 * A request for a turn. The result of a tool call is a `Prompt.toolResultPart` whose `result` is text; the model gets it
 * as it is. Images are put beside it by `ResultImage.put`.
 */
export interface Request {
  readonly prompt: Prompt.RawInput
  readonly tools: ReadonlyArray<ToolDefinition>
}

/** Asks a model for a turn, and tries again by the model's policy. */
export const stream = (
  { languageModel, retry }: Pick<Model, "languageModel" | "retry">,
  request: Request
): Stream.Stream<TurnPart, ModelError> => Retry.stream(once(languageModel, request), TurnPart.Retrying, retry)

/** Asks a model for a turn, once. Fails with the error of the first try. */
export const once = (model: LanguageModel.Service, request: Request): Stream.Stream<TurnPart, ModelError> =>
  Stream.suspend(() => {
    const prompt = Prompt.make(request.prompt)
    const recorder = make(prompt)
    return model.streamText({ prompt, toolkit: toolkitOf(request.tools), disableToolCallResolution: true }).pipe(
      Stream.mapError(fromAiError),
      Stream.mapConcatEffect((part) => recorder.accept(part)),
      Stream.takeUntil((part) => part._tag === "Finished"),
      Stream.concat(Stream.suspend(() => (recorder.isFinished() ? Stream.empty : Stream.fail(brokenOff()))))
    )
  })

const brokenOff = () => new ModelError({ kind: "broken", reason: "The model's answer broke off before its end" })

/** Accepts any parameters: where `@effect/ai` checked them, wrong ones would end the whole turn. */
const parametersOf = (tool: ToolDefinition) =>
  Schema.Unknown.annotations({ jsonSchema: tool.parameters }) as unknown as AiTool.AnyStructSchema

const toolkitOf = (tools: ReadonlyArray<ToolDefinition>): Toolkit.WithHandler<Record<string, AiTool.Any>> => ({
  tools: Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      AiTool.make(tool.name, { description: tool.description, success: Schema.String }).setParameters(
        parametersOf(tool)
      ) as AiTool.Any
    ])
  ),
  handle: () => Effect.dieMessage("the calls of a turn are run by the agent")
})
