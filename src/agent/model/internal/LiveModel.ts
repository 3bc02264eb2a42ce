/** Makes the LanguageModel of an endpoint. It is loaded when a model is asked for, since it loads `@effect/ai`. */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ForeignText from "../../../domain/ForeignText.js"
import type { ModelError } from "../ModelError.js"
import * as AnthropicWire from "./AnthropicWire.js"
import type { Endpoint, Kind } from "./Endpoint.js"
import * as Exchange from "./Exchange.js"
import * as OpenAiWire from "./OpenAiWire.js"
import * as Refusal from "./Refusal.js"
import * as Retry from "./Retry.js"
import * as Wire from "./Wire.js"

const wires: Readonly<Record<Kind, Wire.Wire>> = {
  anthropic: AnthropicWire.wire,
  openai: OpenAiWire.responses,
  compatible: OpenAiWire.chat
}

/** Makes the LanguageModel of an endpoint. Its stream fails if an answer has no proper end. */
export const make = (endpoint: Endpoint): Effect.Effect<LanguageModel.Service> =>
  Effect.flatMap(Exchange.make(endpoint.proxy), (exchange) => {
    const ask = (options: Wire.Ask) => partsOf(exchange, endpoint, options)
    return LanguageModel.make({
      streamText: (options) => Stream.mapError(ask(options), toAiError("streamText")),
      generateText: (options) =>
        Stream.runFold(
          Retry.stream(ask(options), () => "again" as const, endpoint.retry),
          new Whole(),
          (whole, part) => (part === "again" ? new Whole() : whole.add(part))
        ).pipe(
          Effect.flatMap((whole) => whole.result(endpoint)),
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
  endpoint: Endpoint,
  ask: Wire.Ask
): Stream.Stream<Wire.Part, ModelError> =>
  Stream.suspend(() => {
    const wire = wires[endpoint.kind]
    const reader = wire.reader(ask, new Wire.Calls(new Set(ask.tools.map(({ name }) => name))))
    const end = (isMarked: boolean) => Stream.suspend(() => Stream.fromIterable(reader.end(isMarked)))
    const broken = Stream.fail(Refusal.broken(endpoint, "ended before its end"))
    return exchange(endpoint, wire.path, wire.headers(endpoint.key), wire.body(ask, endpoint)).pipe(
      Stream.mapConcat((message) => {
        if (message === Exchange.done) return reader.end(true)
        if (message.isEvent) return reader.event(message.json)
        return [...reader.eventsOf(message.json).flatMap(reader.event), ...reader.end(true)]
      }),
      Stream.concat(end(false)),
      Stream.concat(broken),
      Stream.mapEffect((part) =>
        part.type === "error" ? Effect.fail(Refusal.fromEvent(endpoint, part.error)) : Effect.succeed(part)
      ),
      Stream.takeUntil((part) => part.type === "finish")
    )
  })

/** Collects the parts of an answer. */
class Whole {
  private readonly parts: Array<Response.PartEncoded> = []
  private readonly texts = new Map<string, { text: string }>()
  private readonly unknownCalls = new Map<string, string>()

  add(part: Wire.Part): this {
    if (part.type === "text-delta") this.addText("text", part)
    if (part.type === "reasoning-delta") this.addText("reasoning", part)
    if (part.type === "tool-params-start") this.unknownCalls.set(part.id, part.name)
    if (part.type === "tool-call") this.unknownCalls.delete(part.id)
    if (part.type === "tool-call" || part.type === "finish") this.parts.push(part)
    return this
  }

  /** Fails if a call is of an unknown tool, or its arguments are not JSON. */
  result(endpoint: Endpoint): Effect.Effect<Array<Response.PartEncoded>, ModelError> {
    const [wrong] = this.unknownCalls.values()
    return wrong === undefined
      ? Effect.succeed(this.parts)
      : Effect.fail(Refusal.broken(endpoint, `has a wrong call of the tool ${ForeignText.quoted(wrong, 80)}`))
  }

  private addText(type: "text" | "reasoning", { delta, id }: { readonly delta: string; readonly id: string }): void {
    const known = this.texts.get(`${type}/${id}`)
    if (known !== undefined) known.text += delta
    else {
      const part = { type, text: delta }
      this.texts.set(`${type}/${id}`, part)
      this.parts.push(part)
    }
  }
}
