/** Makes the LanguageModel of an endpoint. It is loaded when a model is asked for, since it loads `@effect/ai`. */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ForeignText from "../../../domain/ForeignText.js"
import type { ModelError } from "../ModelError.js"
import * as ResultImage from "../ResultImage.js"
import * as AnthropicWire from "./AnthropicWire.js"
import type { Endpoint, Kind } from "./Endpoint.js"
import * as Exchange from "./Exchange.js"
import * as Refusal from "./Refusal.js"
import * as ResponsesWire from "./ResponsesWire.js"
import * as Retry from "./Retry.js"
import * as Wire from "./Wire.js"
import { countOf, type Json, objectOf, objectsOf, textOf } from "./Wire.js"

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
  const calls = Wire.make(new Set(ask.tools.map(({ name }) => name)))
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

/** The protocol of chat completions. */
const chatWire: Wire.Wire = {
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

/** Makes the answer of the parts. Fails where a call is of a tool that is not there, or its arguments are no JSON. */
const fromParts = (
  endpoint: Endpoint,
  parts: ReadonlyArray<Response.StreamPartEncoded>
): Effect.Effect<Array<Response.PartEncoded>, ModelError> => {
  const answer: Array<Response.PartEncoded> = []
  const texts = new Map<string, { text: string }>()
  const calls = new Map<string, string>()
  const add = (type: "text" | "reasoning", id: string, delta: string) => {
    const known = texts.get(`${type}/${id}`)
    if (known !== undefined) {
      known.text += delta
      return
    }
    const part = { type, text: delta }
    texts.set(`${type}/${id}`, part)
    answer.push(part)
  }
  for (const part of parts) {
    if (part.type === "text-delta") add("text", part.id, part.delta)
    if (part.type === "reasoning-delta") add("reasoning", part.id, part.delta)
    if (part.type === "tool-params-start") calls.set(part.id, part.name)
    if (part.type === "tool-call") calls.delete(part.id)
    if (part.type === "tool-call" || part.type === "finish" || part.type === "response-metadata") answer.push(part)
  }
  const [wrong] = calls.values()
  return wrong === undefined
    ? Effect.succeed(answer)
    : Effect.fail(Refusal.broken(endpoint, `has a wrong call of the tool ${ForeignText.quoted(wrong, 80)}`))
}

const wires: Readonly<Record<Kind, Wire.Wire>> = {
  anthropic: AnthropicWire.wire,
  openai: ResponsesWire.wire,
  compatible: chatWire
}

/** Makes the LanguageModel of an endpoint. Its stream fails where an answer has no end of its own. */
export const make = (endpoint: Endpoint): Effect.Effect<LanguageModel.Service> =>
  Effect.flatMap(Exchange.make(endpoint.proxy), (exchange) => {
    const wire = wires[endpoint.kind]
    const ask = (options: LanguageModel.ProviderOptions) => partsOf(exchange, wire, endpoint, options)
    return LanguageModel.make({
      streamText: (options) => Stream.mapError(ask(options), toAiError("streamText")),
      generateText: (options) =>
        Stream.runCollect(ask(options)).pipe(
          Effect.flatMap((parts) => fromParts(endpoint, Chunk.toReadonlyArray(parts))),
          (once) => Retry.effect(once, endpoint.retry),
          Effect.mapError(toAiError("generateText"))
        )
    })
  })

const toAiError =
  (method: string) =>
  (error: ModelError): AiError.AiError =>
    new AiError.UnknownError({ module: "ModelProvider", method, description: error.reason, cause: error })

const partsOf = (
  exchange: Exchange.Exchange,
  wire: Wire.Wire,
  endpoint: Endpoint,
  ask: Wire.Ask
): Stream.Stream<Response.StreamPartEncoded, ModelError> =>
  Stream.suspend(() => {
    const reader = wire.reader(ask)
    let isFinished = false
    const accept = (parts: ReadonlyArray<Wire.Part>): Effect.Effect<ReadonlyArray<Wire.Part>, ModelError> => {
      const failure = parts.find((part) => part.type === "error")
      if (failure !== undefined) return Effect.fail(Refusal.fromEvent(endpoint, failure.error))
      isFinished ||= parts.some((part) => part.type === "finish")
      return Effect.succeed(parts)
    }
    const messages = exchange.post(endpoint, wire.path, wire.headers(endpoint.key), wire.body(ask, endpoint))
    return messages.pipe(
      Stream.mapConcatEffect((message) => {
        switch (message._tag) {
          case "Event":
            return accept(reader.event(message.value))
          case "Whole":
            return accept(reader.whole(message.value))
          case "Done":
            return accept(reader.end(true))
        }
      }),
      Stream.takeUntil((part) => part.type === "finish"),
      Stream.concat(
        Stream.suspend(() => {
          if (isFinished) return Stream.empty
          const parts = reader.end(false)
          return parts.length > 0
            ? Stream.fromIterable(parts)
            : Stream.fail(Refusal.broken(endpoint, "ended before its end"))
        })
      )
    )
  })
