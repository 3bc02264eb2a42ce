/** Anthropic's Messages API. */
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as ResultImage from "../ResultImage.js"
import type { Endpoint } from "./Endpoint.js"
import * as Wire from "./Wire.js"

type Block = Record<string, unknown>

interface Message {
  readonly role: "user" | "assistant"
  readonly content: Array<Block>
}

/** The most tokens of an answer. The protocol requires a number, and old models refuse one above their limit. */
const maxOutputOf = ({ maxOutput, model }: Endpoint): number => {
  if (maxOutput !== undefined) return maxOutput
  if (/claude-3-(?:opus|sonnet|haiku|5)/.test(model)) return 4096
  return /claude/.test(model) ? 32_000 : 8192
}

/** Converts another provider's id to one that the protocol accepts. */
const idOf = (id: string): string => id.replace(/[^\w-]/g, "_") || "_"

// The API refuses empty texts.
const textBlock = (text: string): ReadonlyArray<Block> => (text.trim() === "" ? [] : [{ type: "text", text }])

/** The API accepts a thought only with its original signature. */
const thoughtBlock = ({ options, text }: Prompt.ReasoningPart): ReadonlyArray<Block> => {
  const redacted = Wire.textAt(options, "anthropic", "redactedData")
  if (redacted !== "") return [{ type: "redacted_thinking", data: redacted }]
  const signature = Wire.textAt(options, "anthropic", "signature")
  return signature === "" ? [] : [{ type: "thinking", thinking: text, signature }]
}

const resultBlock = (part: Prompt.ToolResultPart): Block => {
  const text = Wire.resultOf(part)
  const images = ResultImage.of(part).map(({ base64, mediaType }) => ({
    type: "image",
    source: { type: "base64", media_type: mediaType, data: base64 }
  }))
  const content = images.length === 0 ? text : [...textBlock(text), ...images]
  return {
    type: "tool_result",
    tool_use_id: idOf(part.id),
    ...(content === "" ? {} : { content }),
    ...(part.isFailure ? { is_error: true } : {})
  }
}

const blocksOf = (part: Prompt.Part): ReadonlyArray<Block> => {
  switch (part.type) {
    case "text":
    case "file":
      return textBlock(Wire.wordsOf(part))
    case "reasoning":
      return thoughtBlock(part)
    case "tool-call": {
      const input = Predicate.isReadonlyRecord(part.params) ? part.params : {}
      return [{ type: "tool_use", id: idOf(part.id), name: Wire.nameOf(part.name), input }]
    }
    case "tool-result":
      return [resultBlock(part)]
  }
}

/** Joins neighbouring messages of the same role, as the protocol requires. */
const messagesOf = (prompt: Prompt.Prompt): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (const message of prompt.content) {
    if (message.role === "system") continue
    const content = (message.content as ReadonlyArray<Prompt.Part>).flatMap(blocksOf)
    if (content.length === 0) continue
    const role = message.role === "assistant" ? "assistant" : "user"
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: [...content] })
  }
  // The API refuses a final model text that ends with white space.
  const text = messages.at(-1)?.role === "assistant" ? messages.at(-1)?.content.at(-1) : undefined
  if (text?.["type"] === "text") text["text"] = Wire.textAt(text, "text").trimEnd()
  return messages
}

/** Marks where the provider's cache ends, since the next request begins the same way. */
const cacheLast = (blocks: ReadonlyArray<Block> | undefined): void => {
  const last = blocks?.findLast(({ type }) => type !== "thinking" && type !== "redacted_thinking")
  if (last !== undefined) last["cache_control"] = { type: "ephemeral" }
}

const body = (ask: Wire.Ask, endpoint: Endpoint): object => {
  const system = Wire.systemOf(ask).map((text): Block => ({ type: "text", text }))
  const messages = messagesOf(ask.prompt)
  const tools = Wire.toolsOf(ask, (name, description, schema): Block => ({ name, description, input_schema: schema }))
  cacheLast(system.length === 0 ? tools : system)
  cacheLast(messages.at(-1)?.content)
  return {
    model: endpoint.model,
    max_tokens: maxOutputOf(endpoint),
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(tools.length === 0 ? {} : { tools, tool_choice: { type: "auto" } }),
    stream: true
  }
}

const reasons: Readonly<Record<string, Response.FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  pause_turn: "pause",
  refusal: "content-filter"
}

const reader: Wire.Wire["reader"] = (calls) => {
  /** Arguments that came complete at the start of a call. */
  const inputs = new Map<number, string>()
  let usage: Readonly<Record<string, unknown>> = {}
  let reason = ""

  const said = (index: number, block: unknown): Wire.Parts => {
    const signature = Wire.textAt(block, "signature")
    const json = Wire.textAt(block, "partial_json")
    const signed: Wire.Parts =
      signature === ""
        ? []
        : [{ type: "reasoning-delta", id: String(index), delta: "", metadata: { anthropic: { signature } } }]
    return [
      ...Wire.said("text", index, Wire.textAt(block, "text")),
      ...Wire.said("reasoning", index, Wire.textAt(block, "thinking")),
      ...signed,
      ...(json === "" ? [] : calls.add(index, { text: json }))
    ]
  }
  const begun = (index: number, block: unknown): Wire.Parts => {
    const type = Wire.textAt(block, "type")
    if (type === "tool_use") {
      const input = JSON.stringify(Wire.at(block, "input") ?? {})
      inputs.set(index, input === "{}" ? "" : input)
      return calls.add(index, { id: Wire.textAt(block, "id"), name: Wire.textAt(block, "name") })
    }
    if (type !== "redacted_thinking") return said(index, block)
    const redactedData = Wire.textAt(block, "data")
    return [{ type: "reasoning-start", id: String(index), metadata: { anthropic: { redactedData } } }]
  }
  const count = (told: unknown): void => {
    const counts = Object.entries(Object(told)).filter(([, value]) => typeof value === "number")
    usage = { ...usage, ...Object.fromEntries(counts) }
  }
  const finished = (): Wire.Parts => {
    const sent = Wire.countAt(usage, "input_tokens")
    const read = Wire.countAt(usage, "cache_read_input_tokens") ?? 0
    const written = Wire.countAt(usage, "cache_creation_input_tokens") ?? 0
    return [
      ...calls.endAll(),
      Wire.finish(reasons[reason] ?? (calls.count > 0 ? "tool-calls" : "unknown"), {
        // The protocol counts cached tokens separately.
        input: sent === undefined ? undefined : sent + read + written,
        cached: read,
        output: Wire.countAt(usage, "output_tokens")
      })
    ]
  }

  return {
    event: (event) => {
      const index = Wire.countAt(event, "index") ?? 0
      switch (Wire.textAt(event, "type")) {
        case "message_start":
          count(Wire.at(event, "message", "usage"))
          return []
        case "content_block_start":
          return begun(index, Wire.at(event, "content_block"))
        case "content_block_delta":
          return said(index, Wire.at(event, "delta"))
        case "content_block_stop":
          return calls.end(index, inputs.get(index))
        case "message_delta":
          count(Wire.at(event, "usage"))
          reason = Wire.textAt(event, "delta", "stop_reason") || reason
          return []
        case "message_stop":
          return finished()
        case "error":
          return [{ type: "error", error: Wire.at(event, "error") }]
        default:
          return []
      }
    },
    end: () => (reason === "" ? [] : finished())
  }
}

export const wire: Wire.Wire = {
  path: "/messages",
  headers: (key) => ({
    "anthropic-version": "2023-06-01",
    ...(key === undefined ? {} : { "x-api-key": Redacted.value(key) })
  }),
  body,
  reader
}
