/** OpenAI's protocol: responses. */
import type * as Prompt from "@effect/ai/Prompt"
import * as AiTool from "@effect/ai/Tool"
import * as Redacted from "effect/Redacted"
import * as ResultImage from "../ResultImage.js"
import type { Endpoint } from "./Endpoint.js"
import * as Wire from "./Wire.js"
import { countOf, type Json, objectOf, objectsOf, textOf } from "./Wire.js"

/** Models that think: what they thought is taken back only in the encrypted form, which has to be asked for. */
const thinks = /^(?:o\d|gpt-[5-9](?!.*chat)|codex)/

const partOf = (part: Prompt.TextPart | Prompt.FilePart): object => {
  if (part.type === "text") return { type: "input_text", text: part.text }
  return part.mediaType.startsWith("image/")
    ? { type: "input_image", image_url: Wire.urlOf(part) }
    : { type: "input_text", text: Wire.placeholderOf(part) }
}

const outputOf = (part: Prompt.ToolResultPart): unknown => {
  const images = ResultImage.of(part).map((image) => ({ type: "input_image", image_url: ResultImage.urlOf(image) }))
  const text = Wire.resultOf(part)
  if (images.length === 0) return text
  return text === "" ? images : [{ type: "input_text", text }, ...images]
}

const inputOf = (prompt: Prompt.Prompt): ReadonlyArray<object> =>
  prompt.content.flatMap((message): ReadonlyArray<object> => {
    switch (message.role) {
      case "system":
        return []
      case "user":
        return [{ role: "user", content: message.content.map(partOf) }]
      case "tool":
        return message.content.map((part) => ({
          type: "function_call_output",
          call_id: part.id,
          output: outputOf(part)
        }))
      default:
        return message.content.flatMap((part): ReadonlyArray<object> => {
          switch (part.type) {
            case "text":
              return part.text === ""
                ? []
                : [{ role: "assistant", content: [{ type: "output_text", text: part.text }] }]
            case "reasoning": {
              const { encryptedContent, itemId } = objectOf(part.options["openai"])
              if (typeof encryptedContent !== "string" || typeof itemId !== "string") return []
              const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }]
              return [{ type: "reasoning", id: itemId, summary, encrypted_content: encryptedContent }]
            }
            case "tool-call":
              return [
                {
                  type: "function_call",
                  call_id: part.id,
                  name: Wire.nameOf(part.name),
                  arguments: JSON.stringify(part.params ?? {})
                }
              ]
            default:
              return []
          }
        })
    }
  })

const choiceOf = ({ toolChoice }: Wire.Ask): unknown => {
  if (typeof toolChoice === "string") return toolChoice
  if ("tool" in toolChoice) return { type: "function", name: toolChoice.tool }
  return toolChoice.mode ?? "auto"
}

const bodyOf = (ask: Wire.Ask, endpoint: Endpoint): object => {
  const tools = Wire.definitionsOf(ask)
  const instructions = ask.prompt.content
    .flatMap((message) => (message.role === "system" ? [message.content] : []))
    .join("\n\n")
  return {
    model: endpoint.model,
    ...(instructions === "" ? {} : { instructions }),
    input: inputOf(ask.prompt),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ description, name, schema }) => ({
            type: "function",
            name,
            description,
            parameters: schema,
            strict: false
          })),
          tool_choice: choiceOf(ask)
        }),
    ...(ask.responseFormat.type === "json"
      ? {
          text: {
            format: {
              type: "json_schema",
              name: ask.responseFormat.objectName,
              schema: AiTool.getJsonSchemaFromSchemaAst(ask.responseFormat.schema.ast),
              strict: false
            }
          }
        }
      : {}),
    ...(endpoint.maxOutput === undefined ? {} : { max_output_tokens: endpoint.maxOutput }),
    ...(thinks.test(endpoint.model) ? { include: ["reasoning.encrypted_content"] } : {}),
    // The conversation is sent whole each time, so the provider needs to keep none of it.
    store: false,
    stream: endpoint.isStreaming
  }
}

const reader = (ask: Wire.Ask): Wire.Reader => {
  const calls = Wire.make(new Set(ask.tools.map(({ name }) => name)))
  /** The items that something was said of, so that their whole form, which comes again at the end, is not said twice. */
  const said = new Set<string>()
  const done = new Set<number>()

  const text = (index: number, type: "text" | "reasoning", delta: unknown): ReadonlyArray<Wire.Part> => {
    if (textOf(delta) === "") return []
    said.add(`${type}/${index}`)
    return [{ type: `${type}-delta`, id: String(index), delta: textOf(delta) }]
  }
  const started = (index: number, item: Json): ReadonlyArray<Wire.Part> =>
    item["type"] === "function_call" ? calls.start(index, textOf(item["call_id"]), textOf(item["name"])) : []
  const ended = (index: number, item: Json): ReadonlyArray<Wire.Part> => {
    if (done.has(index)) return []
    done.add(index)
    switch (item["type"]) {
      case "function_call":
        return [...started(index, item), ...calls.end(index, textOf(item["arguments"]))]
      case "message":
        return said.has(`text/${index}`)
          ? []
          : objectsOf(item["content"]).flatMap((part) => text(index, "text", part["text"] ?? part["refusal"]))
      case "reasoning": {
        const summary = said.has(`reasoning/${index}`)
          ? []
          : objectsOf(item["summary"]).flatMap((part) => text(index, "reasoning", part["text"]))
        const encrypted = textOf(item["encrypted_content"])
        const metadata = { openai: { itemId: textOf(item["id"]), encryptedContent: encrypted } }
        return encrypted === "" ? summary : [...summary, { type: "reasoning-end", id: String(index), metadata }]
      }
      default:
        return []
    }
  }
  const finished = (response: Json): ReadonlyArray<Wire.Part> => {
    const items = objectsOf(response["output"]).flatMap((item, index) => ended(index, item))
    const cut = objectOf(response["incomplete_details"])["reason"]
    const usage = objectOf(response["usage"])
    const reason =
      cut === "max_output_tokens"
        ? "length"
        : cut === "content_filter"
          ? "content-filter"
          : calls.count() > 0
            ? "tool-calls"
            : "stop"
    return [
      ...items,
      ...calls.endAll(),
      Wire.finish(reason, {
        input: countOf(usage["input_tokens"]),
        cached: countOf(objectOf(usage["input_tokens_details"])["cached_tokens"]),
        output: countOf(usage["output_tokens"])
      })
    ]
  }

  return {
    event: (given) => {
      const event = objectOf(given)
      const index = countOf(event["output_index"]) ?? 0
      const response = objectOf(event["response"])
      switch (event["type"]) {
        case "response.created":
          return [
            {
              type: "response-metadata",
              id: textOf(response["id"]),
              modelId: textOf(response["model"]),
              timestamp: undefined
            }
          ]
        case "response.output_item.added":
          return started(index, objectOf(event["item"]))
        case "response.function_call_arguments.delta":
          return calls.delta(index, textOf(event["delta"]))
        case "response.output_text.delta":
        case "response.refusal.delta":
          return text(index, "text", event["delta"])
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          return text(index, "reasoning", event["delta"])
        case "response.output_item.done":
          return ended(index, objectOf(event["item"]))
        case "response.completed":
        case "response.incomplete":
          return finished(response)
        case "response.failed":
          return [{ type: "error", error: response["error"] }]
        case "error":
          return [{ type: "error", error: event["error"] ?? event }]
        default:
          return []
      }
    },
    whole: (given) => {
      const response = objectOf(given)
      if (response["error"] !== undefined && response["error"] !== null) {
        return [{ type: "error", error: response["error"] }]
      }
      return Array.isArray(response["output"]) ? finished(response) : []
    },
    end: () => []
  }
}

/** The protocol of responses. */
export const wire: Wire.Wire = {
  path: "/responses",
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` }),
  body: bodyOf,
  reader
}
