/** Writes the steps of a run to its session's transcript. If that fails, the run continues without it. */
import type * as Prompt from "@effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Todo } from "../../domain/Todo.js"
import type { AgentEvent } from "../loop/AgentEvent.js"
import * as Images from "../loop/Images.js"
import * as RunLimits from "../loop/RunLimits.js"
import type { NotKept, Writer } from "./internal/TranscriptFile.js"
import type { OpenSession } from "./OpenSession.js"
import type * as Transcript from "./Transcript.js"
import type { End } from "./Transcript.js"

export interface Recorder {
  /** Writes what a resumed run needs of a step. */
  readonly take: (event: AgentEvent) => Effect.Effect<void>
  /** Writes the todo list if it has changed. */
  readonly takeTodos: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
  /** Writes that the run was interrupted. */
  readonly interrupted: Effect.Effect<void>
  /** The turns and the usage of all runs of the session so far. */
  readonly total: () => { readonly turns: number; readonly usage: RunLimits.TokenUsage }
  /** True while everything was written. */
  readonly isKept: () => boolean
}

/** The most base64 characters of images in a transcript, which fit into one line. */
const mostImages = 12 * 1024 ** 2

const written = ({ cost, ...usage }: RunLimits.TokenUsage) => (cost === undefined ? usage : { ...usage, cost })

/**
 * Makes the recorder of a run.
 *
 * @param warn is called once if the transcript can't be written
 * @param isPlan true if the run should end with a plan
 */
export const make = (
  { transcript, writer }: Pick<OpenSession, "transcript" | "writer">,
  warn: (error: NotKept) => Effect.Effect<void>,
  isPlan = false
): Effect.Effect<Recorder> =>
  Effect.gen(function* () {
    let { todos, turns, usage } = transcript
    let open: Writer | undefined = Either.getOrUndefined(writer)
    if (Either.isLeft(writer)) yield* warn(writer.left)

    let room = Images.of(transcript.messages).reduce((left, { base64 }) => left - base64.length, mostImages)
    const kept = (message: Prompt.Message): Prompt.Message =>
      Images.filterMessage(message, ({ base64 }) => {
        if (base64.length > room) return "transcript"
        room -= base64.length
        return undefined
      })

    const append = (...entries: ReadonlyArray<Transcript.Entry>) =>
      Effect.suspend(() => open?.append(...entries) ?? Effect.void).pipe(
        Effect.catchAll((error) =>
          Effect.suspend(() => {
            // After a gap, the messages would not be a conversation any more.
            open = undefined
            return warn(error)
          })
        )
      )
    const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

    const end = ({ ending, reason }: End) =>
      Effect.flatMap(now, (time) => {
        const why = reason === undefined ? {} : { reason }
        return append({ type: "end", time, ending, ...why, turns, usage: written(usage) })
      })

    return {
      take: (event) => {
        switch (event._tag) {
          case "Started":
            return Effect.flatMap(now, (time) =>
              append({ type: "run", time, provider: event.provider, model: event.model, ...(isPlan ? { isPlan } : {}) })
            )
          case "Appended":
            return append(
              ...event.messages.flatMap((message) =>
                message.role === "system" ? [] : [{ type: "message" as const, message: kept(message) }]
              )
            )
          case "TurnEnded":
            turns++
            usage = RunLimits.add(usage, event.usage)
            return append({ type: "turn", turns, usage: written(usage) })
          case "Ended":
            // This usage includes sub-agents.
            usage = RunLimits.add(transcript.usage, event.usage)
            return end(event)
          default:
            return Effect.void
        }
      },
      takeTodos: (next) => {
        if (JSON.stringify(next) === JSON.stringify(todos)) return Effect.void
        todos = next
        return append({ type: "todos", todos })
      },
      interrupted: Effect.suspend(() => end({ ending: "interrupted", reason: undefined })),
      total: () => ({ turns, usage }),
      isKept: () => open !== undefined
    }
  })
