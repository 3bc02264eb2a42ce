/** Keeps a conversation in the order that providers accept: a message with calls, then a message with their results. */
import * as Prompt from "@effect/ai/Prompt"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import * as ResultImage from "../model/ResultImage.js"
import * as Turn from "../model/Turn.js"

export const interrupted = "(interrupted before its result was known; it may or may not have run)"

export const toolMessage = (
  results: ReadonlyArray<{
    readonly call: Pick<ToolCall, "id" | "name">
    readonly result: Pick<ToolReturn, "isError" | "output"> & { readonly extras?: Pick<ToolReturn["extras"], "images"> }
  }>
): Prompt.ToolMessage =>
  Prompt.toolMessage({
    content: results.map(({ call: { id, name }, result: { extras, isError, output } }) => {
      const part = resultPart(id, name, isError, output)
      return extras?.images === undefined ? part : ResultImage.put(part, extras.images)
    })
  })

const resultPart = (id: string, name: string, isFailure: boolean, result: string): Prompt.ToolResultPart =>
  Prompt.toolResultPart({ id, name, isFailure, result, providerExecuted: false })

/**
 * Completes a conversation that was cut off anywhere. All results of a message follow in one message, in the order of
 * its calls. A missing result becomes one that says so. Results without a call, empty messages and system messages are
 * removed.
 */
export const repair = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const repaired: Array<Prompt.Message> = []
  messages.forEach((message, at) => {
    if (message.role === "system" || message.role === "tool" || message.content.length === 0) return
    repaired.push(message)
    const calls = Turn.callsOf(message)
    if (calls.length === 0) return
    const given = resultsBehind(messages, at)
    const content = calls.map(
      ({ id, name }) => given.find((result) => result.id === id) ?? resultPart(id, name, true, interrupted)
    )
    repaired.push(Prompt.toolMessage({ content }))
  })
  return repaired
}

/** Returns the results between a model's message and its next one. */
const resultsBehind = (messages: ReadonlyArray<Prompt.Message>, at: number): ReadonlyArray<Prompt.ToolResultPart> => {
  const results: Array<Prompt.ToolResultPart> = []
  for (const message of messages.slice(at + 1)) {
    if (message.role === "assistant" && message.content.length > 0) break
    if (message.role === "tool") results.push(...message.content)
  }
  return results
}
