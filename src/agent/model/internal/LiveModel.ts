/**
 * Makes the LanguageModel of an endpoint. It loads `@effect/ai`, so it is only loaded with the first request for a
 * model.
 */
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
  Effect.flatMap(Exchange.make(endpoint.proxy), (exchange) => {
    const refused = new Set<string>()
    return LanguageModel.make({
      streamText: (options) => Stream.mapError(partsOf(exchange, endpoint, options, refused), toAiError),
      generateText: () => Effect.dieMessage("not part of Model.languageModel")
    })
  })

const toAiError = (error: ModelError): AiError.AiError =>
  new AiError.UnknownError({ module: "ModelProvider", method: "streamText", description: error.reason, cause: error })

/** Returns the optional fields that a server refuses, according to its error. */
const refusedBy = ({ kind, reason }: ModelError): ReadonlyArray<string> => {
  if (kind !== "bad_request") return []
  if (/stream_options/.test(reason)) return ["stream_options"]
  return /support tools|tools? (?:are|is) not supported/i.test(reason) ? ["tools", "tool_choice"] : []
}

const partsOf = (
  exchange: Exchange.Exchange,
  endpoint: Endpoint,
  ask: Wire.Ask,
  /** Fields that the server has refused, which are not sent again. */
  refused: Set<string>
): Stream.Stream<Wire.Part, ModelError> =>
  Stream.suspend(() => {
    const wire = wires[endpoint.kind]
    const reader = wire.reader(new Wire.Calls(new Set(ask.tools.map(({ name }) => name))), endpoint)
    const end = (isMarked: boolean) => Stream.suspend(() => Stream.fromIterable(reader.end(isMarked)))
    const broken = Stream.fail(Refusal.broken(endpoint, "ended before its end"))
    const send = (): Stream.Stream<unknown, ModelError> => {
      const fields = Object.entries(wire.body(ask, endpoint)).filter(([name]) => !refused.has(name))
      const answer = exchange(endpoint, wire.path, wire.headers(endpoint.key), Object.fromEntries(fields))
      return Stream.catchAll(answer, (error) => {
        const further = refusedBy(error).filter((name) => fields.some(([field]) => field === name))
        if (endpoint.kind !== "compatible" || further.length === 0) return Stream.fail(error)
        for (const name of further) refused.add(name)
        return send()
      })
    }
    return send().pipe(
      Stream.mapConcat((event) => (event === Exchange.done ? reader.end(true) : reader.event(event))),
      Stream.concat(end(false)),
      Stream.concat(broken),
      Stream.mapEffect((part) =>
        part.type === "error" ? Effect.fail(Refusal.fromEvent(endpoint, part.error)) : Effect.succeed(part)
      ),
      Stream.takeUntil((part) => part.type === "finish")
    )
  })
