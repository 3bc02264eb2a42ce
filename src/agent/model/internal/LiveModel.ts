/** Makes the LanguageModel of an endpoint. It is loaded when a model is asked for, since it loads `@effect/ai`. */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ModelError } from "../ModelError.js"
import type { Model } from "../ModelProvider.js"
import * as AnthropicWire from "./AnthropicWire.js"
import type { Endpoint, Kind } from "./Endpoint.js"
import * as Exchange from "./Exchange.js"
import * as OpenAiWire from "./OpenAiWire.js"
import * as Refusal from "./Refusal.js"
import * as Wire from "./Wire.js"

const wires: Readonly<Record<Kind, Wire.Wire>> = {
  anthropic: AnthropicWire.wire,
  openai: OpenAiWire.responses,
  compatible: OpenAiWire.chat
}

/** Makes the part of a LanguageModel that agents use. Its stream fails if an answer has no proper end. */
export const make = (endpoint: Endpoint): Effect.Effect<Model["languageModel"]> =>
  Effect.flatMap(Exchange.make(endpoint.proxy), (exchange) =>
    LanguageModel.make({
      streamText: (options) => Stream.mapError(partsOf(exchange, endpoint, options), toAiError),
      generateText: () => Effect.dieMessage("not part of Model.languageModel")
    })
  )

const toAiError = (error: ModelError): AiError.AiError =>
  new AiError.UnknownError({ module: "ModelProvider", method: "streamText", description: error.reason, cause: error })

/** Leaves out of a request the optional field that a server refuses; undefined where the error names none. */
const without = (body: object, { kind, reason }: ModelError): object | undefined => {
  if (kind !== "bad_request") return undefined
  const refused = /stream_options/.test(reason)
    ? ["stream_options"]
    : /support tools|tools? (?:are|is) not supported/i.test(reason)
      ? ["tools", "tool_choice"]
      : []
  const left = Object.fromEntries(Object.entries(body).filter(([name]) => !refused.includes(name)))
  return Object.keys(left).length === Object.keys(body).length ? undefined : left
}

const partsOf = (
  exchange: Exchange.Exchange,
  endpoint: Endpoint,
  ask: Wire.Ask
): Stream.Stream<Wire.Part, ModelError> =>
  Stream.suspend(() => {
    const wire = wires[endpoint.kind]
    const reader = wire.reader(new Wire.Calls(new Set(ask.tools.map(({ name }) => name))), endpoint)
    const end = (isMarked: boolean) => Stream.suspend(() => Stream.fromIterable(reader.end(isMarked)))
    const broken = Stream.fail(Refusal.broken(endpoint, "ended before its end"))
    const send = (body: object) => exchange(endpoint, wire.path, wire.headers(endpoint.key), body)
    const body = wire.body(ask, endpoint)
    return Stream.catchAll(send(body), (error) => {
      const left = endpoint.kind === "compatible" ? without(body, error) : undefined
      return left === undefined ? Stream.fail(error) : send(left)
    }).pipe(
      Stream.mapConcat((event) => (event === Exchange.done ? reader.end(true) : reader.event(event))),
      Stream.concat(end(false)),
      Stream.concat(broken),
      Stream.mapEffect((part) =>
        part.type === "error" ? Effect.fail(Refusal.fromEvent(endpoint, part.error)) : Effect.succeed(part)
      ),
      Stream.takeUntil((part) => part.type === "finish")
    )
  })
