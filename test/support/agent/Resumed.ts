/** Conversations that were kept in a transcript and read again. */
import * as Prompt from "@effect/ai/Prompt"
import * as Either from "effect/Either"
import type { Finished } from "../../../src/agent/model/Turn.js"
import * as Transcript from "../../../src/agent/transcript/Transcript.js"

/** Keeps a message and reads it again. */
export const message = (message: Prompt.Message): Prompt.Message => {
  const line = Either.getOrThrow(Transcript.encode({ type: "message", message }))
  const entry = Either.getOrThrow(Transcript.decode(line.subarray(0, -1)))
  return (entry as Extract<Transcript.Entry, { readonly type: "message" }>).message
}

/** Continues a conversation after an answer, with the results of its calls. */
export const prompt = ({ calls, message: answer }: Finished): Prompt.Prompt => {
  const results = calls.map(({ id, name }) =>
    Prompt.toolResultPart({ id, name, result: "ok", isFailure: false, providerExecuted: false })
  )
  return Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: "List." })] }),
    message(answer as Prompt.AssistantMessage),
    results.length === 0
      ? Prompt.userMessage({ content: [Prompt.textPart({ text: "Go on." })] })
      : Prompt.toolMessage({ content: results })
  ])
}
