/**
 * Runs an agent: asks a model, runs its tool calls, and repeats until the model answers.
 *
 * @since 0.1.0
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Described } from "../../command/CommandHandler.js"
import * as CommandListener from "../../domain/CommandListener.js"
import * as Span from "../../domain/Span.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import type { ToolDefinition } from "../../toolset/Tool.js"
import type { Toolset } from "../../toolset/Toolset.js"
import type { ModelError } from "../model/ModelError.js"
import type { Model } from "../model/ModelProvider.js"
import * as Turn from "../model/Turn.js"
import { AgentEvent, type Ending } from "./AgentEvent.js"
import { AgentSettings, type Settings } from "./AgentSettings.js"
import { Conversation, systemPrompt } from "./internal/Conversation.js"
import * as EventQueue from "./internal/EventQueue.js"
import * as TurnCalls from "./internal/TurnCalls.js"
import * as RunLimits from "./RunLimits.js"

/** The turns in a row without a complete answer or a call after which a run fails. */
const mostFruitlessTurns = 3

const nudges = {
  empty: "Your last turn was empty. Go on, or answer.",
  cut: "Your answer was cut off, for it was too long. Go on where it stopped."
}

const lastTurn =
  "[This is the last turn of this run: you will not see the results of further calls. Answer with what is done and what is left.]"

const userMessage = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })

const refusals = {
  "content-filter": "The model refused to go on, or the provider's filter stopped its answer.",
  error: "The provider ended the answer with an error."
}

const reasonOf = ({ kind, reason }: ModelError): string =>
  kind === "context_length"
    ? `The conversation does not fit the model's window any more: ${reason} Begin a new one, or take a model with a larger window.`
    : reason

const inChatSpan = Span.within("AgentLoop.chat")

/** Describes a model request in a span with OpenTelemetry's attribute names. */
const attributesOf = (model: Model): Span.Attributes<{ readonly usage: RunLimits.TokenUsage }> => ({
  begun: () => ({ "gen_ai.provider.name": model.provider, "gen_ai.request.model": model.name }),
  ended: ({ usage: { cached, input, output } }) => ({
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cached
  })
})

const inRunSpan = Span.within("AgentLoop.run")

/** An estimate for requests whose tokens no provider counts. */
const charactersPerToken = 4

interface Request {
  readonly model: Model
  readonly conversation: Conversation
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly emit: EventQueue.Emit
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
const ask = (request: Request, attempt = 1): Effect.Effect<Counted, ModelError> =>
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

/** Runs an agent and emits its steps. The last one is `Ended`, unless the run is interrupted. */
const carryOut = Effect.fnUntraced(function* (
  run: Run,
  settings: Settings,
  emit: EventQueue.Emit
): Effect.fn.Return<void> {
  const { history = [], limits: { budget, maxParallelTasks, maxTokens, maxTurns } = {}, model, toolset } = run
  const limits: Limits = {
    maxTurns: maxTurns ?? settings.maxTurns,
    maxTokens,
    budget,
    maxParallelTasks: maxParallelTasks ?? settings.maxParallelTasks
  }
  const listener = yield* FiberRef.get(CommandListener.current)
  const account = new RunLimits.RunAccount(limits, listener.account)
  // Tool descriptions change with the registered commands. A fixed copy keeps the provider's cache valid.
  const tools = toolset.tools.map(({ description, name, parameters }) => ({ name, description, parameters }))
  const conversation = new Conversation({
    system: systemPrompt(run),
    history,
    tools,
    contextWindow: model.contextWindow,
    takesImages: model.takesImages ?? true
  })
  let turns = 0
  let lastText = ""
  /** The beginning of an answer that was cut off. */
  let begun = ""
  let fruitlessTurns = 0
  let misuse = TurnCalls.noMisuse

  const end = (ending: Ending, reason?: string) =>
    emit(AgentEvent.Ended({ ending, reason, text: begun === "" ? lastText : begun, usage: account.total, turns }))
  const append = (message: Prompt.Message | undefined) => {
    if (message === undefined) return Effect.void
    conversation.add(message)
    return emit(AgentEvent.Appended({ messages: [message] }))
  }

  /** Asks for a turn and runs its calls. Returns false to continue. */
  const step = Effect.gen(function* () {
    const reached = RunLimits.ofTurns(limits, turns) ?? account.reached()
    if (reached !== undefined) return yield* end(reached.ending, reached.reason)
    const compacted = conversation.fit()
    if (compacted !== undefined) yield* emit(AgentEvent.Compacted(compacted))
    turns++
    yield* emit(AgentEvent.TurnStarted({ turn: turns }))
    const last = turns === limits.maxTurns ? userMessage(lastTurn) : undefined
    const asked = yield* Effect.either(
      inChatSpan(ask({ model, conversation, tools, emit, account, last }), attributesOf(model))
    )
    if (Either.isLeft(asked)) {
      const { ending, reason } = account.reached() ?? { ending: "failed", reason: reasonOf(asked.left) }
      return yield* end(ending, reason)
    }
    const turn = asked.right
    yield* emit(AgentEvent.TurnEnded({ turn: turns, text: turn.text, usage: turn.usage }))
    const hasText = turn.text.trim() !== ""
    if (hasText) lastText = turn.text

    if (turn.reason === "content-filter" || (turn.reason === "error" && turn.calls.length === 0)) {
      return yield* end("failed", refusals[turn.reason])
    }
    if (turn.calls.length === 0) {
      if (hasText) yield* append(turn.message)
      if (hasText && turn.reason !== "length") {
        lastText = begun + turn.text
        begun = ""
        return yield* end("done")
      }
      if (hasText) begun += turn.text
      if (++fruitlessTurns >= mostFruitlessTurns) {
        return yield* end(
          "failed",
          `The model gave no ${hasText ? "whole " : ""}answer in ${fruitlessTurns} turns in a row.`
        )
      }
      yield* append(userMessage(hasText ? nudges.cut : nudges.empty))
      return false
    }

    fruitlessTurns = 0
    begun = ""
    yield* append(turn.message)
    const done = yield* TurnCalls.run(turn, { toolset, emit, account, maxParallelTasks: limits.maxParallelTasks })
    conversation.addResults(done)
    misuse = TurnCalls.nextMisuse(misuse, done)
    if (misuse.count < TurnCalls.mostMisuses) return false
    const output = done.at(-1)?.result.output ?? ""
    return yield* end(
      "misuse",
      `${TurnCalls.describeMisuse(misuse)} The last answer was: ${UntrustedText.quoted(output, 300)}`
    )
  })

  yield* emit(AgentEvent.Started({ provider: model.provider, model: model.name }))
  yield* append(userMessage(run.prompt))
  if (account.hasBudget && model.price === undefined) return yield* end("failed", RunLimits.unpriced(model))
  yield* Effect.catchAllDefect(Effect.repeat(step, { until: (isOver) => isOver !== false }), (defect) =>
    Effect.zipRight(
      Effect.logError("the run of an agent failed unexpectedly", defect),
      end("failed", `The run failed unexpectedly: ${UntrustedText.line(String(defect), 300)}`)
    )
  )
})

/**
 * The limits of a run. The defaults come from the settings.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  /** The most requests to the model (`SYNAPSE_MAX_TOOL_ITERATIONS`, 50). */
  readonly maxTurns: number
  /** The most tokens, sent and received, sub-agents included; undefined for no limit. */
  readonly maxTokens: number | undefined
  /** The highest cost, sub-agents included, in the currency of the prices; undefined for no limit. */
  readonly budget: number | undefined
  /** The most `task:*` calls of one turn that run at the same time (`SYNAPSE_MAX_PARALLEL_TASKS`, default 5). */
  readonly maxParallelTasks: number
}

/**
 * A task for an agent, with its model and its tools.
 *
 * @since 0.1.0
 * @category models
 */
export interface Run {
  readonly prompt: string
  readonly model: Model
  readonly toolset: Context.Tag.Service<Toolset>
  /** Text added to the system prompt, such as a skill's or a sub-agent type's. */
  readonly instructions?: string | undefined
  /** The commands of its shell (`CommandRegistry.list`), which the system prompt explains. */
  readonly commands?: ReadonlyArray<Described> | undefined
  /** The directory that its shell starts in, which the system prompt names. */
  readonly cwd?: string | undefined
  /** The conversation to continue. It may have been cut off anywhere. */
  readonly history?: ReadonlyArray<Prompt.Message> | undefined
  readonly limits?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } | undefined
}

/**
 * Runs agents.
 *
 * @since 0.1.0
 * @category tags
 */
export class AgentLoop extends Context.Tag("synapse/AgentLoop")<
  AgentLoop,
  {
    /**
     * Returns the steps of a run as they come, `Ended` last. Interrupting the stream ends the request and the running
     * commands first. The run waits for the consumer after each step. The `CommandListener` of the consuming fiber
     * hears the commands, and its `account` hears the usage.
     */
    readonly run: (run: Run) => Stream.Stream<AgentEvent>
  }
>() {}

/**
 * A layer that runs agents with the limits of the settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<AgentLoop, never, AgentSettings> = Layer.effect(
  AgentLoop,
  Effect.map(AgentSettings, (settings) =>
    AgentLoop.of({ run: (run) => EventQueue.stream((emit) => inRunSpan(carryOut(run, settings, emit))) })
  )
)
