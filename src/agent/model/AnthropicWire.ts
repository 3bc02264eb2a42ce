/**
 * Anthropic's protocol: messages.
 *
 * @since 0.1.0
 */
import type * as Response from "@effect/ai/Response"
import * as Redacted from "effect/Redacted"
import * as AnthropicBody from "./AnthropicBody.js"
import * as CallWriter from "./CallWriter.js"
import { countOf, type Json, objectOf, objectsOf, textOf } from "./JsonValue.js"
import * as Wire from "./Wire.js"

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
  const calls = CallWriter.make(new Set(ask.tools.map(({ name }) => name)))
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

/**
 * The protocol of messages.
 *
 * @since 0.1.0
 * @category protocols
 */
export const wire: Wire.Wire = {
  path: "/messages",
  headers: (key) => ({
    "anthropic-version": "2023-06-01",
    ...(key === undefined ? {} : { "x-api-key": Redacted.value(key) })
  }),
  body: AnthropicBody.make,
  reader
}
