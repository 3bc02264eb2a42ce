/** Anthropic's protocol: messages. */

import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Redacted from "effect/Redacted"
import * as ResultImage from "../ResultImage.js"
import type { Endpoint } from "./Endpoint.js"
import * as Wire from "./Wire.js"
import { countOf, type Json, objectOf, objectsOf, textOf } from "./Wire.js"

type Block = Record<string, unknown>

interface Message {
  readonly role: "user" | "assistant"
  readonly content: Array<Block>
}

/** The most tokens of an answer: the protocol requires a number, and old models refuse one above theirs. */
const maxOutputOf = ({ maxOutput, model }: Endpoint): number => {
  if (maxOutput !== undefined) return maxOutput
  if (/claude-3-(?:opus|sonnet|haiku)/.test(model)) return 4096
  return /claude-3-5/.test(model) || !/claude/.test(model) ? 8192 : 32_000
}

/** Returns an id as the protocol takes it, also one that another provider has made. */
const idOf = (id: string): string => id.replace(/[^\w-]/g, "_") || "_"

const fileOf = (file: Prompt.FilePart): Block => {
  const data = Wire.base64Of(file)
  const source =
    data === undefined
      ? { type: "url", url: Wire.urlOf(file) }
      : { type: "base64", media_type: file.mediaType === "image/*" ? "image/jpeg" : file.mediaType, data }
  if (file.mediaType.startsWith("image/")) return { type: "image", source }
  return file.mediaType === "application/pdf"
    ? { type: "document", source }
    : { type: "text", text: Wire.placeholderOf(file) }
}

/** Returns what a model thought, as the protocol takes it back: only with the signature that it came with. */
const thoughtOf = (part: Prompt.ReasoningPart): ReadonlyArray<Block> => {
  const { redactedData, signature } = objectOf(part.options["anthropic"])
  if (typeof redactedData === "string") return [{ type: "redacted_thinking", data: redactedData }]
  return typeof signature === "string" ? [{ type: "thinking", thinking: part.text, signature }] : []
}

const blocksOf = (message: Exclude<Prompt.Message, Prompt.SystemMessage>): ReadonlyArray<Block> =>
  (message.content as ReadonlyArray<Prompt.Part>).flatMap((part): ReadonlyArray<Block> => {
    switch (part.type) {
      case "text":
        // Empty blocks are refused.
        return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }]
      case "file":
        return [fileOf(part)]
      case "reasoning":
        return thoughtOf(part)
      case "tool-call":
        return [{ type: "tool_use", id: idOf(part.id), name: Wire.nameOf(part.name), input: objectOf(part.params) }]
      case "tool-result": {
        const text = Wire.resultOf(part)
        const images = ResultImage.of(part).map(({ base64, mediaType }) => ({
          type: "image",
          source: { type: "base64", media_type: mediaType, data: base64 }
        }))
        const said = text.trim() === "" ? [] : [{ type: "text", text }]
        const content = images.length === 0 ? text : [...said, ...images]
        return [
          {
            type: "tool_result",
            tool_use_id: idOf(part.id),
            ...(content === "" ? {} : { content }),
            ...(part.isFailure ? { is_error: true } : {})
          }
        ]
      }
      default:
        return []
    }
  })

/** Joins messages of the same role, for results of tools and what the user says go into one. */
const messagesOf = (prompt: Prompt.Prompt): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (const message of prompt.content) {
    if (message.role === "system") continue
    const content = blocksOf(message)
    if (content.length === 0) continue
    const role = message.role === "assistant" ? "assistant" : "user"
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: [...content] })
  }
  // The last words of the model may not end in white space.
  const text = messages.at(-1)?.role === "assistant" ? messages.at(-1)?.content.at(-1) : undefined
  if (text?.["type"] === "text") text["text"] = textOf(text["text"]).trimEnd()
  return messages
}

/** Lets the provider keep all up to this block, for the next request begins with the same. */
const kept = { cache_control: { type: "ephemeral" } }

const keepLast = (blocks: ReadonlyArray<Block> | undefined): void => {
  const last = blocks?.findLast(({ type }) => type !== "thinking" && type !== "redacted_thinking")
  if (last !== undefined) Object.assign(last, kept)
}

const choiceOf = ({ responseFormat, toolChoice }: Wire.Ask): unknown => {
  if (responseFormat.type === "json") return { type: "tool", name: responseFormat.objectName }
  if (toolChoice === "auto" || toolChoice === "none") return { type: toolChoice }
  if (toolChoice === "required") return { type: "any" }
  if ("tool" in toolChoice) return { type: "tool", name: toolChoice.tool }
  return { type: toolChoice.mode === "required" ? "any" : "auto" }
}

const toolsOf = (ask: Wire.Ask): ReadonlyArray<Block> =>
  ask.responseFormat.type === "json"
    ? [
        {
          name: ask.responseFormat.objectName,
          description: "Answer by calling this tool.",
          input_schema: AiTool.getJsonSchemaFromSchemaAst(ask.responseFormat.schema.ast)
        }
      ]
    : Wire.definitionsOf(ask).map(({ description, name, schema }) => ({ name, description, input_schema: schema }))

/**
 * Makes the body. All up to the system prompt, and all up to the last message, is to be kept in the provider's cache.
 */
const make = (ask: Wire.Ask, endpoint: Endpoint): object => {
  const system = ask.prompt.content.flatMap((message) =>
    message.role === "system" && message.content !== "" ? [{ type: "text", text: message.content }] : []
  )
  const messages = messagesOf(ask.prompt)
  const tools = toolsOf(ask)
  keepLast(system.length === 0 ? tools : system)
  keepLast(messages.at(-1)?.content)
  return {
    model: endpoint.model,
    max_tokens: maxOutputOf(endpoint),
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(tools.length === 0 ? {} : { tools, tool_choice: choiceOf(ask) }),
    stream: endpoint.isStreaming
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

const reader = (ask: Wire.Ask): Wire.Reader => {
  const isJson = ask.responseFormat.type === "json"
  const calls = Wire.make(new Set(ask.tools.map(({ name }) => name)))
  /** The open blocks: their type, and the text that stood in their beginning. */
  const open = new Map<number, { readonly type: string; readonly input: string }>()
  let usage: Json = {}
  let reason: string | undefined

  const startOf = (index: number, block: Json): ReadonlyArray<Wire.Part> => {
    const id = String(index)
    const type = textOf(block["type"])
    const input = objectOf(block["input"])
    open.set(index, { type, input: Object.keys(input).length === 0 ? "" : JSON.stringify(input) })
    switch (type) {
      case "text":
        return deltaOf(index, { type: "text_delta", text: block["text"] })
      case "thinking": {
        const { signature } = block
        const told = textOf(signature) === "" ? [] : deltaOf(index, { type: "signature_delta", signature })
        return [...deltaOf(index, { type: "thinking_delta", thinking: block["thinking"] }), ...told]
      }
      case "redacted_thinking":
        return [{ type: "reasoning-start", id, metadata: { anthropic: { redactedData: textOf(block["data"]) } } }]
      case "tool_use":
        return isJson ? [] : calls.start(index, textOf(block["id"]), textOf(block["name"]))
      default:
        return []
    }
  }
  const deltaOf = (index: number, delta: Json): ReadonlyArray<Wire.Part> => {
    const id = String(index)
    const text = textOf(delta["text"]) || textOf(delta["thinking"]) || textOf(delta["partial_json"])
    switch (delta["type"]) {
      case "text_delta":
        return text === "" ? [] : [{ type: "text-delta", id, delta: text }]
      case "thinking_delta":
        return text === "" ? [] : [{ type: "reasoning-delta", id, delta: text }]
      case "signature_delta":
        return [
          { type: "reasoning-delta", id, delta: "", metadata: { anthropic: { signature: textOf(delta["signature"]) } } }
        ]
      case "input_json_delta":
        if (isJson) return text === "" ? [] : [{ type: "text-delta", id, delta: text }]
        return calls.delta(index, text)
      default:
        return []
    }
  }
  const endOf = (index: number): ReadonlyArray<Wire.Part> => {
    const block = open.get(index)
    open.delete(index)
    if (block?.type !== "tool_use") return []
    if (!isJson) return calls.end(index, block.input)
    return block.input === "" ? [] : [{ type: "text-delta", id: String(index), delta: block.input }]
  }
  const finished = (): ReadonlyArray<Wire.Part> => {
    const [sent, read, written] = [
      countOf(usage["input_tokens"]),
      countOf(usage["cache_read_input_tokens"]) ?? 0,
      countOf(usage["cache_creation_input_tokens"]) ?? 0
    ]
    return [
      ...calls.endAll(),
      Wire.finish(reasons[reason ?? ""] ?? (calls.count() > 0 ? "tool-calls" : "unknown"), {
        // The provider counts what came from the cache apart.
        input: sent === undefined ? undefined : sent + read + written,
        cached: read,
        output: countOf(usage["output_tokens"])
      })
    ]
  }
  const noted = (told: unknown): void => {
    const counts = Object.entries(objectOf(told)).filter(([, value]) => value !== null && value !== undefined)
    usage = { ...usage, ...Object.fromEntries(counts) }
  }

  return {
    event: (given) => {
      const event = objectOf(given)
      const index = countOf(event["index"]) ?? 0
      switch (event["type"]) {
        case "message_start": {
          const message = objectOf(event["message"])
          noted(message["usage"])
          return [
            {
              type: "response-metadata",
              id: textOf(message["id"]),
              modelId: textOf(message["model"]),
              timestamp: undefined
            }
          ]
        }
        case "content_block_start":
          return startOf(index, objectOf(event["content_block"]))
        case "content_block_delta":
          return deltaOf(index, objectOf(event["delta"]))
        case "content_block_stop":
          return endOf(index)
        case "message_delta":
          noted(event["usage"])
          reason = textOf(objectOf(event["delta"])["stop_reason"]) || reason
          return []
        case "message_stop":
          return finished()
        case "error":
          return [{ type: "error", error: event["error"] }]
        default:
          return []
      }
    },
    whole: (given) => {
      const answer = objectOf(given)
      if (answer["type"] === "error") return [{ type: "error", error: answer["error"] }]
      if (!Array.isArray(answer["content"])) return []
      noted(answer["usage"])
      reason = textOf(answer["stop_reason"])
      const blocks = objectsOf(answer["content"])
      return [...blocks.flatMap((block, index) => [...startOf(index, block), ...endOf(index)]), ...finished()]
    },
    end: () => (reason === undefined ? [] : finished())
  }
}

/** The protocol of messages. */
export const wire: Wire.Wire = {
  path: "/messages",
  headers: (key) => ({
    "anthropic-version": "2023-06-01",
    ...(key === undefined ? {} : { "x-api-key": Redacted.value(key) })
  }),
  body: make,
  reader
}
