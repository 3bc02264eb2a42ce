/**
 * Makes the LanguageModel of an endpoint. It is loaded when a model is asked for, since it loads `@effect/ai`.
 *
 * @since 0.1.0
 */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Answer from "./Answer.js"
import * as AnthropicWire from "./AnthropicWire.js"
import * as ChatWire from "./ChatWire.js"
import type { Endpoint, Kind } from "./Endpoint.js"
import * as Exchange from "./Exchange.js"
import type { ModelError } from "./ModelError.js"
import * as Refusal from "./Refusal.js"
import * as ResponsesWire from "./ResponsesWire.js"
import * as Retry from "./Retry.js"
import type * as Wire from "./Wire.js"

const wires: Readonly<Record<Kind, Wire.Wire>> = {
  anthropic: AnthropicWire.wire,
  openai: ResponsesWire.wire,
  compatible: ChatWire.wire
}

/**
 * Makes the LanguageModel of an endpoint. Its stream fails where an answer has no end of its own.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (endpoint: Endpoint): Effect.Effect<LanguageModel.Service> =>
  Effect.flatMap(Exchange.make(endpoint.proxy), (exchange) => {
    const wire = wires[endpoint.kind]
    const ask = (options: LanguageModel.ProviderOptions) => partsOf(exchange, wire, endpoint, options)
    return LanguageModel.make({
      streamText: (options) => Stream.mapError(ask(options), toAiError("streamText")),
      generateText: (options) =>
        Stream.runCollect(ask(options)).pipe(
          Effect.flatMap((parts) => Answer.fromParts(endpoint, Chunk.toReadonlyArray(parts))),
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
