/** Asks a model for a turn of a run, and counts what it costs. */
import * as Prompt from "@effect/ai/Prompt"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CommandAccount } from "../../../domain/CommandListener.js"
import type { ToolDefinition } from "../../../toolset/Tool.js"
import type { ModelError } from "../../model/ModelError.js"
import type { Model } from "../../model/ModelProvider.js"
import * as Turn from "../../model/Turn.js"
import { AgentEvent } from "../AgentEvent.js"
import type { Limits } from "../AgentLoop.js"
import * as RunLimits from "../RunLimits.js"
import type * as Conversation from "./Conversation.js"
import type * as EventQueue from "./EventQueue.js"

/** The account of a run. What is added to it is added to that of its caller too, whose limits hold as well. */
export class RunAccount implements CommandAccount {
  private sum: RunLimits.TokenUsage = RunLimits.none

  constructor(
    private readonly limits: Limits,
    private readonly caller: CommandAccount | undefined
  ) {}

  /** All that was used so far. */
  get total(): RunLimits.TokenUsage {
    return this.sum
  }

  get hasBudget(): boolean {
    return this.limits.budget !== undefined || this.caller?.hasBudget === true
  }

  readonly add = (usage: RunLimits.TokenUsage): void => {
    this.sum = RunLimits.add(this.sum, usage)
    this.caller?.add(usage)
  }

  readonly reached = (pending?: RunLimits.TokenUsage): RunLimits.Reached<"tokens" | "budget"> | undefined =>
    RunLimits.ofUsage(this.limits, pending === undefined ? this.sum : RunLimits.add(this.sum, pending)) ??
    this.caller?.reached(pending)
}

/** The characters of a token: as they are counted where nobody tells, and more than those of any usual text. */
const perToken = { usual: 4, most: 6 }

/**
 * The outcome of a request: a whole turn, the error that it ended with, or the beginning of an answer that was cut.
 */
export type Asked = Data.TaggedEnum<{
  Whole: { readonly turn: Turn.Finished }
  Failed: { readonly error: ModelError }
  /** `usage` is what was not counted yet; undefined where it was cut between two tries. */
  Cut: {
    readonly reached: RunLimits.Reached<"tokens" | "budget">
    readonly text: string
    readonly usage: RunLimits.TokenUsage | undefined
  }
}>

/** Constructors and matchers of outcomes. */
const Asked = Data.taggedEnum<Asked>()

type Cut = Extract<Asked, { readonly _tag: "Cut" }>

/** The parts of a request. */
interface Options {
  readonly model: Model
  readonly conversation: Conversation.Conversation
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly events: EventQueue.EventQueue
  readonly account: RunAccount
  /** A message that stands behind the conversation in this request only. */
  readonly last: Prompt.Message | undefined
}

/**
 * Asks for a turn. Where the request is too long, it is made shorter, and where it is refused with images in it, they are
 * left out; then it asks once more.
 */
export const ask = (options: Options): Effect.Effect<Asked> => {
  const { conversation, events } = options
  const again = (error: ModelError, attempt: number): Effect.Effect<Asked, Cut | ModelError> => {
    if (mayBeForImages(error) && conversation.dropImages()) {
      const reason = `${error.reason}; now without images`
      const retrying = AgentEvent.Retrying({ attempt, reason, delay: 0 })
      return Effect.zipRight(events.emit(retrying), once(options))
    }
    if (error.kind !== "context_length") return Effect.fail(error)
    return Effect.flatMap(conversation.shorten, (compacted) =>
      compacted === undefined
        ? Effect.fail(error)
        : Effect.zipRight(
            events.emit(AgentEvent.Compacted({ ...compacted, messages: conversation.messages })),
            once(options)
          )
    )
  }
  return once(options).pipe(
    Effect.catchTag("ModelError", (error) => again(error, 1)),
    // Images may be refused by a request that was too long before.
    Effect.catchTag("ModelError", (error) => (mayBeForImages(error) ? again(error, 2) : Effect.fail(error))),
    Effect.catchAll((error) => Effect.succeed(error._tag === "Cut" ? error : Asked.Failed({ error })))
  )
}

const mayBeForImages = ({ kind, status }: ModelError): boolean => kind === "bad_request" || status === 413

const once = ({ account, conversation, events, last, model, tools }: Options): Effect.Effect<Asked, Cut | ModelError> =>
  Effect.suspend(() => {
    const { messages, system } = conversation
    let finished: Turn.Finished | undefined
    let heard = 0
    let text = ""
    const known = conversation.leastTokens()
    /** The usage of an answer that has no end, which nobody tells. */
    const estimated = () => {
      const [input, output] = [conversation.tokens(), Math.ceil(heard / perToken.usual)]
      return RunLimits.of({ input, output, cached: 0 }, model.price)
    }
    const charge = (kind: ModelError["kind"]) => {
      if (kind === "broken" || heard > 0) account.add(estimated())
      heard = 0
      text = ""
    }
    /** Counts characters of the answer, and ends it where it has surely passed a limit. */
    const hear = (characters: number): Effect.Effect<void, Cut> => {
      heard += characters
      const least = { input: known, output: Math.floor(heard / perToken.most), cached: known }
      const reached = account.reached(RunLimits.of(least, model.price))
      return reached === undefined ? Effect.void : Effect.fail(Asked.Cut({ reached, text, usage: estimated() }))
    }
    return Turn.stream(model, {
      prompt: Prompt.fromMessages([
        Prompt.systemMessage({ content: system }),
        ...messages,
        ...(last === undefined ? [] : [last])
      ]),
      tools
    }).pipe(
      Stream.runForEach((part) =>
        Turn.TurnPart.$match(part, {
          Text: ({ delta }) => {
            text += delta
            return Effect.zipRight(events.emit(AgentEvent.Text({ delta })), hear(delta.length))
          },
          Reasoning: ({ delta }) => Effect.zipRight(events.emit(AgentEvent.Reasoning({ delta })), hear(delta.length)),
          Arguments: ({ delta }) => hear(delta.length),
          Retrying: ({ attempt, delay, kind, reason }) => {
            charge(kind)
            const reached = account.reached()
            return reached === undefined
              ? events.emit(AgentEvent.Retrying({ attempt, delay, reason }))
              : Effect.fail(Asked.Cut({ reached, text, usage: undefined }))
          },
          Finished: (whole) =>
            Effect.sync(() => {
              finished = whole
            })
        })
      ),
      Effect.map(() => Asked.Whole({ turn: finished as Turn.Finished })),
      Effect.tapErrorTag("ModelError", ({ kind }) => Effect.sync(() => charge(kind)))
    )
  })
