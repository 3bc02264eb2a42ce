/**
 * Keeps a conversation in the order that providers take: after each message with calls, one message with their results.
 *
 * @since 0.1.0
 */
import * as Prompt from "@effect/ai/Prompt"
import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/**
 * The result of a call that was cut off.
 *
 * @since 0.1.0
 */
export const interrupted = "(interrupted before its result was known; it may or may not have run)"

/**
 * Makes the message with the result of a call.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toolMessage = (
  results: ReadonlyArray<{ readonly call: Pick<ToolCall, "id" | "name">; readonly result: Pick<ToolReturn, "isError" | "output"> }>
): Prompt.ToolMessage =>
  Prompt.toolMessage({
    content: results.map(({ call: { id, name }, result: { isError, output } }) => resultPart(id, name, isError, output))
  })

const resultPart = (id: string, name: string, isFailure: boolean, result: string): Prompt.ToolResultPart =>
  Prompt.toolResultPart({ id, name, isFailure, result, providerExecuted: false })

/**
 * Returns the calls in a message that the agent runs, not the provider.
 *
 * @since 0.1.0
 * @category destructors
 */
export const callsOf = (message: Prompt.Message): ReadonlyArray<Prompt.ToolCallPart> =>
  message.role === "assistant"
    ? message.content.filter((part): part is Prompt.ToolCallPart => part.type === "tool-call" && !part.providerExecuted)
    : []

/**
 * Puts a conversation in order, wherever it was cut: the results of a message's calls stand in one message behind it, in
 * the order of the calls; a call without a result gets one that says so; results without a call, empty messages and
 * system messages are left out.
 *
 * @since 0.1.0
 * @category combinators
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

/** The most characters of an id. */
const longestId = 200

/**
 * Gives the calls of a message ids that no earlier call has, for some servers give the same ones in each turn. Adds them
 * to those that are taken.
 *
 * @since 0.1.0
 */
export const withOwnIds = <Message extends Prompt.AssistantMessage | undefined>(
  turn: { readonly message: Message; readonly calls: ReadonlyArray<ToolCall> },
  taken: Set<string>
): { readonly message: Message | Prompt.AssistantMessage; readonly calls: ReadonlyArray<ToolCall> } => {
  const ids = turn.calls.map(({ id }) => {
    const own = ownId(id, taken)
    taken.add(own)
    return own
  })
  if (turn.message === undefined || turn.calls.every(({ id }, at) => id === ids[at])) return turn
  let at = 0
  const content = turn.message.content.map((part) =>
    part.type === "tool-call" && !part.providerExecuted
      ? Prompt.toolCallPart({ ...part, id: ids[at++] ?? part.id })
      : part
  )
  return {
    message: Prompt.assistantMessage({ content, options: turn.message.options }),
    calls: turn.calls.map((call, at) => ({ ...call, id: ids[at] ?? call.id }))
  }
}

const ownId = (id: string, taken: ReadonlySet<string>): string => {
  const start = id === "" || id.length > longestId ? "call" : id
  if (start === id && !taken.has(id)) return id
  let count = taken.size + 1
  while (taken.has(`${start}_${count}`)) count++
  return `${start}_${count}`
}

/**
 * Returns the ids of all calls of a conversation.
 *
 * @since 0.1.0
 */
export const idsOf = (messages: ReadonlyArray<Prompt.Message>): Set<string> =>
  new Set(messages.flatMap((message) => callsOf(message).map(({ id }) => id)))
