/**
 * The protocol of OpenAI-compatible servers: chat completions, as Ollama, vLLM, llama.cpp and many others have it.
 *
 * @since 0.1.0
 */
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Redacted from "effect/Redacted"
import * as CallWriter from "./CallWriter.js"
import { countOf, type Json, objectOf, objectsOf, textOf } from "./JsonValue.js"
import * as ResultImage from "./ResultImage.js"
import * as Wire from "./Wire.js"

const contentOf = (message: Prompt.UserMessage): unknown => {
  if (message.content.every((part) => part.type === "text")) return message.content.map(({ text }) => text).join("\n")
  return message.content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text }
    return part.mediaType.startsWith("image/")
      ? { type: "image_url", image_url: { url: Wire.urlOf(part) } }
      : { type: "text", text: Wire.placeholderOf(part) }
  })
}

/** Returns the images of results in a message behind them, for a result itself may be text only. */
const imagesOf = ({ content }: Prompt.ToolMessage): ReadonlyArray<object> => {
  const parts = content.flatMap((result) => {
    const images = ResultImage.of(result).map((image) => ({
      type: "image_url",
      image_url: { url: ResultImage.urlOf(image) }
    }))
    const said = `${images.length === 1 ? "The image" : "The images"} of the result of the call ${result.id}:`
    return images.length === 0 ? [] : [{ type: "text", text: said }, ...images]
  })
  return parts.length === 0 ? [] : [{ role: "user", content: parts }]
}

const messagesOf = (prompt: Prompt.Prompt): ReadonlyArray<object> =>
  prompt.content.flatMap((message): ReadonlyArray<object> => {
    switch (message.role) {
      case "system":
        return [{ role: "system", content: message.content }]
      case "user":
        return [{ role: "user", content: contentOf(message) }]
      case "tool":
        return [
          ...message.content.map((part) => ({
            role: "tool",
            tool_call_id: part.id,
            content: Wire.resultOf(part)
          })),
          ...imagesOf(message)
        ]
      default: {
        const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
        const calls = message.content.flatMap((part) =>
          part.type === "tool-call"
            ? [
                {
                  id: part.id,
                  type: "function",
                  function: { name: Wire.nameOf(part.name), arguments: JSON.stringify(part.params ?? {}) }
                }
              ]
            : []
        )
        if (text === "" && calls.length === 0) return []
        return [
          {
            role: "assistant",
            content: text === "" ? null : text,
            ...(calls.length === 0 ? {} : { tool_calls: calls })
          }
        ]
      }
    }
  })

const choiceOf = (ask: Wire.Ask): unknown => {
  const { toolChoice } = ask
  if (typeof toolChoice === "string") return toolChoice
  if ("tool" in toolChoice) return { type: "function", function: { name: toolChoice.tool } }
  return toolChoice.mode ?? "auto"
}

const reasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter"
}

const reader = (ask: Wire.Ask): Wire.Reader => {
  const calls = CallWriter.make(new Set(ask.tools.map(({ name }) => name)))
  /** The calls whose name has not come yet, and the last one, which further parts belong to. */
  const waiting = new Map<number, { id: string; text: string }>()
  const started = new Set<number>()
  let last = -1
  const known = new Map<string, number>()
  let reason: string | undefined
  let usage: Json = {}
  let isBegun = false

  const begin = (answer: Json): ReadonlyArray<Wire.Part> => {
    if (isBegun) return []
    isBegun = true
    return [
      { type: "response-metadata", id: textOf(answer["id"]), modelId: textOf(answer["model"]), timestamp: undefined }
    ]
  }
  const texts = (message: Json): ReadonlyArray<Wire.Part> => {
    const reasoning = textOf(message["reasoning_content"]) || textOf(message["reasoning"])
    const text = textOf(message["content"]) || textOf(message["refusal"])
    return [
      ...(reasoning === "" ? [] : [{ type: "reasoning-delta", id: "0", delta: reasoning } as const]),
      ...(text === "" ? [] : [{ type: "text-delta", id: "0", delta: text } as const])
    ]
  }
  /** Some servers leave the index out: then a new id begins a new call. */
  const indexOf = (call: Json): number => {
    const [given, id] = [countOf(call["index"]), textOf(call["id"])]
    if (given !== undefined) return given
    if (id === "") return Math.max(last, 0)
    const index = known.get(id) ?? known.size
    known.set(id, index)
    return index
  }
  const called = (call: Json): ReadonlyArray<Wire.Part> => {
    const [index, definition] = [indexOf(call), objectOf(call["function"])]
    last = index
    const args = definition["arguments"]
    const text = typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args)
    const before = waiting.get(index) ?? { id: "", text: "" }
    const id = before.id || textOf(call["id"])
    const name = textOf(definition["name"])
    if (name === "" && !started.has(index)) {
      waiting.set(index, { id, text: before.text + text })
      return []
    }
    waiting.delete(index)
    started.add(index)
    return [...calls.start(index, id, name), ...calls.delta(index, before.text + text)]
  }
  const noted = (answer: Json): void => {
    const [choice] = objectsOf(answer["choices"])
    const told = textOf(choice?.["finish_reason"])
    if (told !== "") reason = told
    if (answer["usage"] !== undefined && answer["usage"] !== null) usage = objectOf(answer["usage"])
  }
  const finished = (): ReadonlyArray<Wire.Part> => [
    ...[...waiting].flatMap(([index, { id, text }]) => [...calls.start(index, id, ""), ...calls.delta(index, text)]),
    ...calls.endAll(),
    Wire.finish(calls.count() > 0 && reason !== "length" ? "tool-calls" : (reasons[reason ?? ""] ?? "unknown"), {
      input: countOf(usage["prompt_tokens"]),
      cached: countOf(objectOf(usage["prompt_tokens_details"])["cached_tokens"]),
      output: countOf(usage["completion_tokens"])
    })
  ]
  const failed = (answer: Json): ReadonlyArray<Wire.Part> | undefined =>
    answer["error"] === undefined || answer["error"] === null
      ? undefined
      : [{ type: "error", error: typeof answer["error"] === "string" ? { message: answer["error"] } : answer["error"] }]

  return {
    event: (event) => {
      const answer = objectOf(event)
      const failure = failed(answer)
      if (failure !== undefined) return failure
      noted(answer)
      const delta = objectOf(objectsOf(answer["choices"])[0]?.["delta"])
      return [...begin(answer), ...texts(delta), ...objectsOf(delta["tool_calls"]).flatMap(called)]
    },
    whole: (body) => {
      const answer = objectOf(body)
      const failure = failed(answer)
      if (failure !== undefined) return failure
      const [choice] = objectsOf(answer["choices"])
      if (choice === undefined) return []
      noted(answer)
      const message = objectOf(choice["message"])
      const made = objectsOf(message["tool_calls"]).flatMap((call, index) => called({ ...call, index }))
      return [...begin(answer), ...texts(message), ...made, ...finished()]
    },
    end: (isMarked) => (reason !== undefined || (isMarked && isBegun) ? finished() : [])
  }
}

/**
 * The protocol of chat completions.
 *
 * @since 0.1.0
 * @category protocols
 */
export const wire: Wire.Wire = {
  path: "/chat/completions",
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` }),
  body: (ask, endpoint) => {
    const tools = Wire.definitionsOf(ask)
    return {
      model: endpoint.model,
      messages: messagesOf(ask.prompt),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map(({ description, name, schema }) => ({
              type: "function",
              function: { name, description, parameters: schema }
            })),
            tool_choice: choiceOf(ask)
          }),
      ...(ask.responseFormat.type === "json"
        ? {
            response_format: {
              type: "json_schema",
              json_schema: {
                name: ask.responseFormat.objectName,
                schema: AiTool.getJsonSchemaFromSchemaAst(ask.responseFormat.schema.ast)
              }
            }
          }
        : {}),
      ...(endpoint.maxOutput === undefined ? {} : { max_tokens: endpoint.maxOutput }),
      ...(endpoint.isStreaming ? { stream: true, stream_options: { include_usage: true } } : { stream: false })
    }
  },
  reader
}
