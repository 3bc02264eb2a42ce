/** Asks a model for a turn of a run, and charges its requests. */
import * as Prompt from "@effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ToolDefinition } from "../../../toolset/Tool.js"
import type { ModelError } from "../../model/ModelError.js"
import type { Model } from "../../model/ModelProvider.js"
import * as Turn from "../../model/Turn.js"
import { AgentEvent } from "../AgentEvent.js"
import * as RunLimits from "../RunLimits.js"
import type { Conversation } from "./Conversation.js"
import type { Emit } from "./EventQueue.js"

/** An estimate for requests whose tokens no provider counts. */
const charactersPerToken = 4

interface Request {
  readonly model: Model
  readonly conversation: Conversation
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly emit: Emit
  readonly account: RunLimits.RunAccount
  /** A message that ends this request only. */
  readonly last: Prompt.Message | undefined
}

interface Counted extends Omit<Turn.Finished, "usage"> {
  readonly usage: RunLimits.TokenUsage
}

/**
 * Asks for a turn. A request that is too long is shortened, and a refused request with images is sent without them, once
 * each.
 */
export const ask = (request: Request, attempt = 1): Effect.Effect<Counted, ModelError> =>
  Effect.catchAll(once(request), (error) =>
    Effect.gen(function* () {
      const { conversation, emit } = request
      const mayBeForImages = error.kind === "bad_request" || error.status === 413
      if (attempt <= 2 && mayBeForImages && conversation.dropImages()) {
        yield* emit(AgentEvent.Retrying({ attempt, reason: `${error.reason}; now without images`, delay: 0 }))
        return yield* ask(request, attempt + 1)
      }
      if (attempt > 1 || error.kind !== "context_length") return yield* error
      const compacted = conversation.shorten()
      if (compacted === undefined) return yield* error
      yield* emit(AgentEvent.Compacted(compacted))
      return yield* ask(request, attempt + 1)
    })
  )

const once = ({ account, conversation, emit, last, model, tools }: Request): Effect.Effect<Counted, ModelError> =>
  Effect.suspend(() => {
    const { messages, system } = conversation
    const prompt = [Prompt.systemMessage({ content: system }), ...messages, ...(last === undefined ? [] : [last])]
    let heard = 0
    /** Charges the provider's counts, and estimates for missing ones. */
    const charge = ({ cached, input, output }: Turn.Finished["usage"]) => {
      const said = output ?? Math.ceil(heard / charactersPerToken)
      const usage = RunLimits.of({ input: input ?? conversation.tokens(), output: said, cached }, model.price)
      account.add(usage)
      return usage
    }
    /** Providers do not count an incomplete answer. */
    const fail = ({ kind }: ModelError) => {
      if (kind === "broken" || heard > 0) charge({ input: undefined, output: undefined, cached: 0 })
      heard = 0
    }
    return Turn.stream(model, { prompt: Prompt.fromMessages(prompt), tools }).pipe(
      Stream.tap((part) => {
        if ("delta" in part) heard += part.delta.length
        if (part._tag === "Text" || part._tag === "Reasoning") return emit(part)
        if (part._tag !== "Retrying") return Effect.void
        const { attempt, delay, error } = part
        fail(error)
        return account.reached() === undefined
          ? emit(AgentEvent.Retrying({ attempt, delay, reason: error.reason }))
          : error
      }),
      Stream.runFold(undefined, (turn: Turn.Finished | undefined, part) => (part._tag === "Finished" ? part : turn)),
      // A turn's stream either ends with `Finished` or fails.
      Effect.map((turn) => turn as Turn.Finished),
      Effect.map((turn) => {
        const usage = charge(turn.usage)
        if (turn.usage.input !== undefined) conversation.count(turn.usage.input)
        return { ...turn, usage }
      }),
      Effect.tapError((error) => Effect.sync(() => fail(error)))
    )
  })
