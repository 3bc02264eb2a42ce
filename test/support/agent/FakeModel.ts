/** A model without a network: each request gets the next turn of a script. */
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { ModelError } from "../../../src/agent/model/ModelError.js"
import type { Model } from "../../../src/agent/model/ModelProvider.js"

interface FakeTurn {
  readonly text?: string | ReadonlyArray<string>
  readonly reasoning?: string
  /** Command lines are calls of Bash; `arguments` that are text are sent as they are. */
  readonly calls?: ReadonlyArray<string | { readonly id?: string; readonly name?: string; readonly arguments: unknown }>
  readonly reason?: Response.FinishReason
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cached?: number }
  /** Fails after its parts, in place of finishing. */
  readonly fails?: ModelError
  /** Never finishes. */
  readonly hangs?: boolean
  /** Breaks with a defect. */
  readonly dies?: string
}

/** A turn, or what makes it of the messages that were sent. */
export type Script = ReadonlyArray<FakeTurn> | ((messages: ReadonlyArray<Prompt.Message>, at: number) => FakeTurn)

export interface Fake {
  readonly model: Model
  /** The messages of each request so far. */
  readonly requests: Array<ReadonlyArray<Prompt.Message>>
  /** The number of requests that were interrupted. */
  readonly interrupted: () => number
}

export const error = (kind: ModelError["kind"], reason = `It is ${kind}.`): ModelError =>
  new ModelError({ kind, reason })

const partsOf = (turn: FakeTurn, at: number): ReadonlyArray<Response.StreamPartEncoded> => {
  const texts = typeof turn.text === "string" ? [turn.text] : (turn.text ?? [])
  return [
    ...(turn.reasoning === undefined
      ? []
      : ([
          { type: "reasoning-start", id: "r" },
          { type: "reasoning-delta", id: "r", delta: turn.reasoning },
          { type: "reasoning-end", id: "r" }
        ] as const)),
    ...(texts.length === 0
      ? []
      : ([
          { type: "text-start", id: "t" },
          ...texts.map((delta) => ({ type: "text-delta", id: "t", delta }) as const),
          { type: "text-end", id: "t" }
        ] as const)),
    ...(turn.calls ?? []).flatMap((call, index): ReadonlyArray<Response.StreamPartEncoded> => {
      const given = typeof call === "string" ? { arguments: { command: call } } : call
      const { id = `call_${at}_${index}`, name = "Bash" } = given as { id?: string; name?: string }
      const text = typeof given.arguments === "string" ? given.arguments : JSON.stringify(given.arguments)
      return [
        { type: "tool-params-start", id, name, providerExecuted: false },
        { type: "tool-params-delta", id, delta: text },
        { type: "tool-params-end", id }
      ]
    })
  ]
}

const finish = ({ calls, reason, usage = {} }: FakeTurn): Response.StreamPartEncoded => ({
  type: "finish",
  reason: reason ?? (calls === undefined ? "stop" : "tool-calls"),
  usage: {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: undefined,
    ...(usage.cached === undefined ? {} : { cachedInputTokens: usage.cached })
  }
})

export const make = (script: Script, options: Partial<Omit<Model, "languageModel">> = {}): Effect.Effect<Fake> => {
  const requests: Array<ReadonlyArray<Prompt.Message>> = []
  let interrupted = 0
  const streamText = ({ prompt }: LanguageModel.ProviderOptions) =>
    Stream.suspend(() => {
      const at = requests.length
      requests.push(prompt.content)
      const turn = typeof script === "function" ? script(prompt.content, at) : script[at]
      if (turn === undefined) return Stream.die(new Error("the script has no further turn"))
      const parts = Stream.fromIterable(partsOf(turn, at))
      const end =
        turn.dies !== undefined
          ? Stream.die(new Error(turn.dies))
          : turn.fails !== undefined
            ? // The door takes these as they are.
              (Stream.fail(turn.fails) as unknown as Stream.Stream<never>)
            : turn.hangs === true
              ? Stream.never
              : Stream.make(finish(turn))
      return Stream.concat(parts, end).pipe(
        Stream.ensuringWith((exit) =>
          Effect.sync(() => {
            if (Exit.isInterrupted(exit)) interrupted++
          })
        )
      )
    })
  return Effect.map(
    LanguageModel.make({ generateText: () => Effect.dieMessage("not asked for"), streamText }),
    (languageModel) => ({
      requests,
      interrupted: () => interrupted,
      model: {
        provider: "fake",
        name: "fake-1",
        contextWindow: 200_000,
        price: undefined,
        retry: { retries: 7, first: 1, longest: 5, longestAsked: 1000 },
        ...options,
        languageModel
      }
    })
  )
}
