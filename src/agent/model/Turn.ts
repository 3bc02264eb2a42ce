/**
 * Asks a model for one turn: its text, its tool calls, and its usage. Tool calls are kept as the model wrote them, even
 * with unknown tools or invalid JSON. A LanguageModel of another `@effect/ai` provider fails the turn for such a call.
 */
import * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Attempt from "../../domain/Attempt.js"
import * as JsonValue from "../../domain/JsonValue.js"
import * as TextCut from "../../domain/TextCut.js"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolDefinition } from "../../toolset/Tool.js"
import type { Retrying } from "./internal/Retry.js"
import * as Retry from "./internal/Retry.js"
import * as Wire from "./internal/Wire.js"
import { fromAiError, fromEvent, ModelError } from "./ModelError.js"
import type { Model } from "./ModelProvider.js"

/** A part of a model's turn. The last one is `Finished`, unless the stream fails. */
export type TurnPart = Data.TaggedEnum<{
  Text: { readonly delta: string }
  Reasoning: { readonly delta: string }
  Arguments: { readonly delta: string }
  /** The request failed and is retried. Discard all parts before this one. */
  Retrying: Retrying
  Finished: Finished
}>

export const TurnPart = Data.taggedEnum<TurnPart>()

export interface Finished {
  /** `length` if the answer was cut off, so that its last call may be incomplete; `content-filter` for a refusal. */
  readonly reason: Response.FinishReason
  readonly text: string
  /** The calls in order, with unique ids. `arguments` is the model's own text. */
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: Usage
  /** The message to continue the conversation with; undefined if the model said nothing. */
  readonly message: Prompt.AssistantMessage | undefined
}

/** The tokens of a turn, as far as the provider tells them. */
interface Usage {
  /** All tokens sent, including cached ones. */
  readonly input: number | undefined
  readonly output: number | undefined
  /** The part of `input` that came from the provider's cache. */
  readonly cached: number
}

type Metadata = Record<string, Record<string, unknown> | undefined>

type Block = BlockStart & { text: string; readonly options: Metadata }
type BlockStart =
  | { readonly type: "text" | "reasoning" }
  | { readonly type: "call"; readonly id: string; readonly name: string }

/** The most calls of one turn. Later ones are dropped, as if the model had not made them. */
const mostCalls = 128

/** The longest answer, in characters and parts, so that a model that repeats itself endlessly is stopped. */
export const longestAnswer = 2_000_000

/** The longest tool name that is kept, in characters. */
const longestName = 200

export class TurnRecorder {
  isFinished = false
  private readonly blocks = new Map<string, Block>()
  private size = 0

  constructor(private readonly prompt: Prompt.Prompt) {}

  accept(part: Response.StreamPart<Record<string, AiTool.Any>>): Effect.Effect<ReadonlyArray<TurnPart>, ModelError> {
    this.size += 1 + ("delta" in part ? part.delta.length : 0)
    if ("metadata" in part) this.size += JSON.stringify(part.metadata).length - "{}".length
    if (this.size > longestAnswer) {
      return new ModelError({ kind: "too_long", reason: "The model's answer is too long: it was stopped" })
    }
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return Effect.succeed(this.said("text", part))
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return Effect.succeed(this.said("reasoning", part))
      case "tool-params-start":
      case "tool-call": {
        if (part.providerExecuted) return Effect.succeed([])
        const { id, name } = part
        const call = this.block(`call/${id}`, { type: "call", id, name: TextCut.startOf(name, longestName) })
        if (part.type === "tool-call" && call.text === "") call.text = JSON.stringify(part.params ?? {})
        merge(call.options, part.metadata)
        return Effect.succeed([])
      }
      case "tool-params-delta": {
        const call = this.blocks.get(`call/${part.id}`)
        if (call === undefined || part.delta === "") return Effect.succeed([])
        call.text += part.delta
        return Effect.succeed([TurnPart.Arguments({ delta: part.delta })])
      }
      case "tool-params-end":
        merge(this.blocks.get(`call/${part.id}`)?.options ?? {}, part.metadata)
        return Effect.succeed([])
      case "error":
        return Effect.fail(fromEvent(part.error))
      case "finish":
        this.isFinished = true
        return Effect.succeed([TurnPart.Finished(finishedOf([...this.blocks.values()], part, this.prompt))])
      default:
        return Effect.succeed([])
    }
  }

  private block(key: string, begun: BlockStart): Block {
    const block = this.blocks.get(key) ?? { ...begun, text: "", options: {} }
    this.blocks.set(key, block)
    return block
  }

  private said(
    type: "text" | "reasoning",
    { delta = "", id, metadata }: { delta?: string; id: string; metadata: Metadata }
  ): ReadonlyArray<TurnPart> {
    const block = this.block(`${type}/${id}`, { type })
    block.text += delta
    merge(block.options, metadata)
    if (delta === "") return []
    return [type === "text" ? TurnPart.Text({ delta }) : TurnPart.Reasoning({ delta })]
  }
}

const merge = (options: Metadata, metadata: Metadata): void => {
  for (const [name, value] of Object.entries(metadata)) options[name] = { ...options[name], ...value }
}

/** Assembles the blocks of a turn. Calls get ids that are new in the conversation, because some servers repeat ids. */
const finishedOf = (
  blocks: ReadonlyArray<Block>,
  { reason, usage }: Pick<Response.FinishPart, "reason" | "usage">,
  prompt: Prompt.Prompt
): Finished => {
  const taken = new Set(prompt.content.flatMap((message) => callsOf(message).map(({ id }) => id)))
  const calls: Array<ToolCall> = []
  const content = blocks.flatMap(({ options, text, ...block }): ReadonlyArray<Prompt.AssistantMessagePart> => {
    if (block.type === "call") {
      if (calls.length >= mostCalls) return []
      const call = { id: Wire.uniqueId(block.id, taken), name: block.name, arguments: text.trim() === "" ? "{}" : text }
      calls.push(call)
      const params = paramsOf(call.arguments)
      return [Prompt.toolCallPart({ id: call.id, name: call.name, params, providerExecuted: false, options })]
    }
    if (text === "" && Object.keys(options).length === 0) return []
    const thoughts = Wire.countAt(options, "compatible", "thoughts") ?? 0
    if (thoughts > 0) {
      const rest = text.slice(thoughts)
      return [
        Prompt.reasoningPart({ text: text.slice(0, thoughts) }),
        ...(rest === "" ? [] : [Prompt.textPart({ text: rest })])
      ]
    }
    return [block.type === "text" ? Prompt.textPart({ text, options }) : Prompt.reasoningPart({ text, options })]
  })
  const said = content.filter(({ options }) => Wire.at(options, "compatible", "isNote") !== true)
  return {
    reason,
    text: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls,
    usage: usageOf(usage),
    message: said.length === 0 ? undefined : Prompt.assistantMessage({ content: said })
  }
}

/** Returns a message's calls that the agent runs, without those that the provider ran. */
export const callsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolCallPart> =>
  message.role === "assistant"
    ? message.content.filter((part): part is Prompt.ToolCallPart => part.type === "tool-call" && !part.providerExecuted)
    : []

/** The deepest nesting of arguments. A transcript's reader allows 200 levels in a whole line. */
const deepest = 100

/** Wraps arguments that are not a JSON object in one, since providers only accept objects. */
const paramsOf = (text: string): object =>
  Attempt.orElse(
    () => {
      const value: unknown = JSON.parse(text)
      return Predicate.isReadonlyRecord(value) && !JsonValue.isDeeperThan(value, deepest)
        ? value
        : { invalid_arguments: text }
    },
    { invalid_arguments: text }
  )

const usageOf = (usage: Response.Usage): Usage => {
  const input = Wire.countAt(usage, "inputTokens")
  const cached = Math.min(Wire.countAt(usage, "cachedInputTokens") ?? 0, input ?? 0)
  return { input, output: Wire.countAt(usage, "outputTokens"), cached }
}

/**
 * A request for a turn. The `result` of each `Prompt.toolResultPart` is text, which the model gets unchanged.
 * `ResultImage.put` adds images to it.
 */
export interface Request {
  readonly prompt: Prompt.RawInput
  readonly tools: ReadonlyArray<ToolDefinition>
}

/** Asks a model for a turn, with retries by the model's policy. */
export const stream = (
  { languageModel, retry }: Pick<Model, "languageModel" | "retry">,
  request: Request
): Stream.Stream<TurnPart, ModelError> => Retry.stream(once(languageModel, request), TurnPart.Retrying, retry)

const once = (model: Model["languageModel"], request: Request): Stream.Stream<TurnPart, ModelError> =>
  Stream.suspend(() => {
    const prompt = Prompt.make(request.prompt)
    const recorder = new TurnRecorder(prompt)
    return model.streamText({ prompt, toolkit: toolkitOf(request.tools), disableToolCallResolution: true }).pipe(
      Stream.mapError(fromAiError),
      Stream.mapConcatEffect((part) => recorder.accept(part)),
      Stream.takeUntil((part) => part._tag === "Finished"),
      Stream.concat(Stream.suspend(() => (recorder.isFinished ? Stream.empty : Stream.fail(brokenOff()))))
    )
  })

const brokenOff = () => new ModelError({ kind: "broken", reason: "The model's answer broke off before its end" })

/** Accepts any parameters. If `@effect/ai` checked them, wrong ones would fail the whole turn. */
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
