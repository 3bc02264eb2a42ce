/**
 * Carries out one run of an agent.
 *
 * @since 0.1.0
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as CommandListener from "../../domain/CommandListener.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { ModelError } from "../model/ModelError.js"
import { AgentEvent, type Ending } from "./AgentEvent.js"
import type { Limits, Run } from "./AgentLoop.js"
import type { Settings } from "./AgentSettings.js"
import * as AskTurn from "./AskTurn.js"
import * as Conversation from "./Conversation.js"
import type { EventQueue } from "./EventQueue.js"
import * as Misuse from "./Misuse.js"
import { RunAccount } from "./RunAccount.js"
import * as RunLimits from "./RunLimits.js"
import * as SystemPrompt from "./SystemPrompt.js"
import * as TokenUsage from "./TokenUsage.js"
import * as TurnCalls from "./TurnCalls.js"

/** The most turns in a row without a whole answer and without a call. */
const mostVain = 3

const nudges = {
  empty: "Your last turn was empty. Go on, or answer.",
  cut: "Your answer was cut off, for it was too long. Go on where it stopped."
}

const lastTurn =
  "[This is the last turn of this run: you will not see the results of further calls. Answer with what is done and what is left.]"

const userMessage = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })

const limitsOf = ({ limits = {} }: Run, settings: Settings): Limits => ({
  maxTurns: limits.maxTurns ?? settings.maxTurns,
  maxTokens: limits.maxTokens,
  budget: limits.budget,
  maxParallelTasks: limits.maxParallelTasks ?? settings.maxParallelTasks
})

/**
 * Carries out a run, and emits its steps. It ends in no other way than with `Ended`, unless it is interrupted.
 *
 * @param idPrefix begins the ids of calls that the run makes itself
 * @since 0.1.0
 * @category running
 */
export const run = Effect.fnUntraced(function* (
  run: Run,
  settings: Settings,
  events: EventQueue,
  idPrefix: string
): Effect.fn.Return<void> {
  const { model, toolset } = run
  const limits = limitsOf(run, settings)
  const listener = yield* FiberRef.get(CommandListener.current)
  const account = new RunAccount(limits, listener.account)
  // The same with every request, so that the provider's cache holds: descriptions change with what is registered.
  const tools = toolset.tools.map(({ description, name, parameters }) => ({ name, description, parameters }))
  const conversation = Conversation.make({
    system: SystemPrompt.make(run),
    history: run.history ?? [],
    tools,
    toolset,
    contextWindow: model.contextWindow,
    takesImages: model.takesImages ?? true,
    idPrefix
  })
  let turns = 0
  let lastText = ""
  /** The beginning of an answer that was cut off. */
  let begun = ""
  let vain = 0
  let misuse = Misuse.none

  const end = (ending: Ending, reason?: string) =>
    events.emit(
      AgentEvent.Ended({ ending, reason, text: begun === "" ? lastText : begun, usage: account.total, turns })
    )
  const append = (message: Prompt.Message) =>
    Effect.suspend(() => {
      conversation.add(message)
      return events.handOver(AgentEvent.Appended({ messages: [message] }))
    })

  /** Ends with the beginning of an answer that was cut, since it has passed a limit. */
  const endCut = Effect.fnUntraced(function* ({ reached, text, usage }: Extract<AskTurn.Asked, { _tag: "Cut" }>) {
    if (usage === undefined) return yield* end(reached.ending, reached.reason)
    account.add(usage)
    yield* events.emit(AgentEvent.TurnEnded({ turn: turns, text, usage }))
    if (text.trim() !== "") {
      yield* append(Prompt.assistantMessage({ content: [Prompt.textPart({ text })] }))
      lastText = begun + text
      begun = ""
    }
    const { ending, reason } = account.reached() ?? reached
    yield* end(ending, `${reason} The last answer was cut off there, and its tokens are an estimate.`)
  })

  yield* events.emit(AgentEvent.Started({ provider: model.provider, model: model.name }))
  yield* append(userMessage(run.prompt))
  if (account.hasBudget && model.price === undefined) return yield* end("failed", RunLimits.unpriced(model))
  const goOn = Effect.gen(function* () {
    while (true) {
      const reached = RunLimits.ofTurns(limits, turns) ?? account.reached()
      if (reached !== undefined) return yield* end(reached.ending, reached.reason)
      const compacted = yield* conversation.fit
      if (compacted !== undefined)
        yield* events.emit(AgentEvent.Compacted({ ...compacted, messages: conversation.messages }))
      turns++
      yield* events.emit(AgentEvent.TurnStarted({ turn: turns }))
      const last = turns === limits.maxTurns ? userMessage(lastTurn) : undefined
      const asked = yield* AskTurn.ask({ model, conversation, tools, events, account, last })
      if (asked._tag === "Cut") return yield* endCut(asked)
      if (asked._tag === "Failed") {
        const { ending, reason } = account.reached() ?? { ending: "failed", reason: reasonOf(asked.error) }
        return yield* end(ending, reason)
      }
      const turn = conversation.own(asked.turn)
      const usage = TokenUsage.of(turn.usage, model.price)
      account.add(usage)
      if (!turn.usage.isEstimated) conversation.count(turn.usage.input)
      yield* events.emit(AgentEvent.TurnEnded({ turn: turns, text: turn.text, usage }))
      const hasText = turn.text.trim() !== ""
      if (hasText) lastText = turn.text

      if (turn.reason === "content-filter" || (turn.reason === "error" && turn.calls.length === 0)) {
        return yield* end("failed", refusals[turn.reason])
      }
      if (turn.calls.length === 0) {
        if (hasText && turn.reason !== "length") {
          if (turn.message !== undefined) yield* append(turn.message)
          lastText = begun + turn.text
          begun = ""
          return yield* end("done")
        }
        if (hasText) begun += turn.text
        if (hasText && turn.message !== undefined) yield* append(turn.message)
        if (++vain >= mostVain) {
          return yield* end("failed", `The model gave no ${hasText ? "whole " : ""}answer in ${vain} turns in a row.`)
        }
        yield* append(userMessage(hasText ? nudges.cut : nudges.empty))
        continue
      }

      vain = 0
      begun = ""
      if (turn.message !== undefined) yield* append(turn.message)
      const done = yield* TurnCalls.run(turn, { toolset, events, account, maxParallelTasks: limits.maxParallelTasks })
      conversation.addResults(done)
      misuse = Misuse.next(misuse, done)
      if (misuse.count >= Misuse.most) {
        const last = done.at(-1)?.result.output ?? ""
        return yield* end("misuse", `${Misuse.describe(misuse)} The last answer was: ${ForeignText.quoted(last, 300)}`)
      }
    }
  })
  yield* Effect.catchAllDefect(goOn, (defect) =>
    Effect.zipRight(
      Effect.logError("the run of an agent failed unexpectedly", defect),
      end("failed", `The run failed unexpectedly: ${ForeignText.line(String(defect), 300)}`)
    )
  )
})

const refusals = {
  "content-filter": "The model refused to go on, or the provider's filter stopped its answer.",
  error: "The provider ended the answer with an error."
}

const reasonOf = ({ kind, reason }: ModelError): string =>
  kind === "context_length"
    ? `The conversation does not fit the model's window any more: ${reason} Begin a new one, or take a model with a larger window.`
    : reason
