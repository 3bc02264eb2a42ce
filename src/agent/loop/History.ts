/**
 * Keeps a conversation in the order that providers take: after each message with calls, one message with their results.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as TextCut from "../../domain/TextCut.js"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import * as ResultImage from "../model/ResultImage.js"
import type { Finished } from "../model/Turn.js"

/** The result of a call that was cut off. */
export const interrupted = "(interrupted before its result was known; it may or may not have run)"

/** Makes the message with the result of a call. */
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

/** Returns the calls in a message that the agent runs, not the provider. */
export const callsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolCallPart> =>
  message.role === "assistant"
    ? message.content.filter((part): part is Prompt.ToolCallPart => part.type === "tool-call" && !part.providerExecuted)
    : []

/**
 * Puts a conversation in order, wherever it was cut: the results of a message's calls stand in one message behind it, in
 * the order of the calls; a call without a result gets one that says so; results without a call, empty messages and
 * system messages are left out.
 */
export const repair = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const repaired: Array<Prompt.Message> = []
  messages.forEach((message, at) => {
    if (message.role === "system" || message.role === "tool" || message.content.length === 0) return
    repaired.push(message)
    const calls = callsOf(message)
    if (calls.length === 0) return
    const given = resultsBehind(messages, at)
    const content = calls.map(
      ({ id, name }) => given.find((result) => result.id === id) ?? resultPart(id, name, true, interrupted)
    )
    repaired.push(Prompt.toolMessage({ content }))
  })
  return repaired
}

/** Returns the results between a message of the model and its next one. */
const resultsBehind = (messages: ReadonlyArray<Prompt.Message>, at: number): ReadonlyArray<Prompt.ToolResultPart> => {
  const results: Array<Prompt.ToolResultPart> = []
  for (const message of messages.slice(at + 1)) {
    if (message.role === "assistant" && message.content.length > 0) break
    if (message.role === "tool") results.push(...message.content)
  }
  return results
}

/** The longest id that every provider takes back. */
const longestId = 64

/** The most characters of a call's arguments. Longer ones are not run, and not kept. */
export const longestArguments = 1_000_000

/** The characters that are kept of longer ones. */
const keptArguments = 1000

/** The most characters of a text that are kept. */
const longestText = 1_000_000

/**
 * Makes a turn fit for a conversation. Its calls get ids that no earlier call has, which are added to those that are
 * taken, for some servers give the same ones in each turn, or none. Of a text or of arguments that are too long, the
 * beginning is kept.
 */
export const fit = <Turn extends Pick<Finished, "calls" | "message" | "text">>(
  turn: Turn,
  taken: Set<string>
): Turn => {
  const calls = turn.calls.map((call) => {
    const id = ownId(call.id, taken)
    taken.add(id)
    return call.id === id ? call : { ...call, id }
  })
  const isFit =
    turn.text.length <= longestText &&
    turn.calls.every((call, at) => call === calls[at] && call.arguments.length <= longestArguments)
  if (turn.message === undefined || isFit) return turn
  let at = 0
  const content = turn.message.content.map((part) => {
    if (part.type === "text") return { ...part, text: cut(part.text) }
    if (part.type !== "tool-call" || part.providerExecuted) return part
    const call = calls[at++]
    if (call === undefined) return part
    const isLong = call.arguments.length > longestArguments
    const params = isLong ? { invalid_arguments: `${TextCut.startOf(call.arguments, keptArguments)}…` } : part.params
    return { ...part, id: call.id, params }
  })
  const message = Prompt.assistantMessage({ content, options: turn.message.options })
  return { ...turn, calls, message, text: cut(turn.text) }
}

const cut = (text: string): string => (text.length > longestText ? `${TextCut.startOf(text, longestText)}…` : text)

const ownId = (id: string, taken: ReadonlySet<string>): string => {
  const start = id === "" || id.length > longestId ? "call" : id
  if (start === id && !taken.has(id)) return id
  const base = start.slice(0, longestId - 10)
  let count = taken.size + 1
  while (taken.has(`${base}_${count}`)) count++
  return `${base}_${count}`
}

/** Returns the ids of all calls of a conversation. */
export const idsOf = (messages: ReadonlyArray<Prompt.Message>): Set<string> =>
  new Set(messages.flatMap((message) => callsOf(message).map(({ id }) => id)))
