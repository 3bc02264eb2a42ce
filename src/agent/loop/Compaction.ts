/**
 * Makes a conversation shorter: outputs that the model has seen long ago are replaced by a reference to their file.
 *
 * Outputs are replaced many at a time: with each change of old messages, the provider's cache of the conversation is lost.
 *
 * @since 0.1.0
 */
import * as Prompt from "@effect/ai/Prompt"
import * as TextCut from "../../domain/TextCut.js"
import type { ContextSize } from "./ContextSize.js"

/**
 * An output in a conversation: its place, and its text.
 *
 * @since 0.1.0
 * @category models
 */
export interface Output {
  readonly message: number
  readonly part: number
  readonly id: string
  readonly text: string
  /** True where the model has not seen it yet. */
  readonly isNew: boolean
}

/**
 * A plan: the outputs to replace, and the number of messages from the beginning of which only those of users stay.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  readonly outputs: ReadonlyArray<Output>
  readonly dropped: number
}

/** Outputs of fewer characters stay: a reference would hardly be shorter. */
const shortest = 600

/** The number of outputs that are replaced only where it does not do without. */
const newest = 3

/** The most characters that stay of the beginning, and of the end, of an output that the model has not seen yet. */
const excerpt = 1500

/** The bytes of a reference. */
const reference = 250

/**
 * Plans how to remove bytes from a conversation: `wanted` where old outputs allow it, `needed` in any case. For the
 * latter the newest outputs are replaced too, those that the model has not seen yet only down to an excerpt, and at last
 * the oldest messages are left out. Messages of users always stay, and the last message of the model with what follows.
 *
 * @since 0.1.0
 */
export const plan = (
  messages: ReadonlyArray<Prompt.Message>,
  size: ContextSize,
  { needed, wanted }: { readonly needed: number; readonly wanted: number }
): Plan => {
  const all = outputsOf(messages)
  const seen = all.filter(({ isNew }) => !isNew)
  const old = seen.slice(0, Math.max(0, seen.length - newest))
  const outputs: Array<Output> = []
  let removed = 0
  const take = (candidates: ReadonlyArray<Output>, most: number) => {
    for (const output of candidates) {
      if (removed >= most) return
      outputs.push(output)
      removed += Buffer.byteLength(output.text) - reference - (output.isNew ? 2 * excerpt : 0)
    }
  }
  take(old, wanted)
  take(seen.slice(old.length), needed)
  const large = all.filter(({ isNew, text }) => isNew && text.length > 3 * excerpt)
  take(
    large.toSorted((a, b) => b.text.length - a.text.length),
    needed
  )
  const dropped = removed >= needed ? 0 : droppedOf(messages, size, outputs, wanted - removed)
  return { outputs: outputs.filter(({ message }) => message >= dropped), dropped }
}

const outputsOf = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Output> => {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  return messages.flatMap((message, at) =>
    message.role !== "tool"
      ? []
      : message.content.flatMap(({ id, result }, part) =>
          typeof result === "string" && result.length > shortest
            ? [{ message: at, part, id, text: result, isNew: at > last }]
            : []
        )
  )
}

/** Returns how many messages have to go; a message with results goes with the one that has their calls. */
const droppedOf = (
  messages: ReadonlyArray<Prompt.Message>,
  size: ContextSize,
  replaced: ReadonlyArray<Output>,
  most: number
): number => {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  let removed = 0
  for (let at = 0; at < last; at++) {
    const message = messages[at]
    if (message === undefined || message.role === "user") continue
    const saved = replaced.filter((output) => output.message === at)
    removed += size.of(message) - saved.reduce((sum, { text }) => sum + Buffer.byteLength(text) - reference, 0)
    if (removed >= most && messages[at + 1]?.role !== "tool") return at + 1
  }
  return Math.max(0, last)
}

/**
 * Carries out a plan.
 *
 * @param where returns the words that tell where an output can be read; undefined where it can't
 * @since 0.1.0
 * @category combinators
 */
export const apply = (
  messages: ReadonlyArray<Prompt.Message>,
  { dropped, outputs }: Plan,
  where: (output: Output) => string | undefined
): ReadonlyArray<Prompt.Message> => {
  const replaced = messages.map((message, at) => {
    const own = outputs.filter((output) => output.message === at)
    if (message.role !== "tool" || own.length === 0) return message
    const content = message.content.map((part, index) => {
      const output = own.find((each) => each.part === index)
      return output === undefined ? part : { ...part, result: replace(output, where(output)) }
    })
    return Prompt.toolMessage({ content, options: message.options })
  })
  const [old, rest] = [replaced.slice(0, dropped), replaced.slice(dropped)]
  const first = old.findIndex(({ role }) => role !== "user")
  if (first < 0) return replaced
  const users = old.filter(({ role }) => role === "user")
  const left = old.length - users.length
  const note = `[${left} ${left === 1 ? "message was" : "messages were"} left out here, to save room]`
  return [
    ...users.slice(0, first),
    Prompt.userMessage({ content: [Prompt.textPart({ text: note })] }),
    ...users.slice(first),
    ...rest
  ]
}

const replace = ({ isNew, text }: Output, where: string | undefined): string => {
  const how = where ?? "run the command again where you need it"
  if (!isNew) return `[output left out to save room: ${text.length} characters; ${how}]`
  const [head, tail] = [TextCut.headOf(text, excerpt), TextCut.tailOf(text, excerpt)]
  const left = text.length - head.length - tail.length
  return `${head.trimEnd()}\n[… ${left} characters left out, for there is no room for them; ${how} …]\n${tail}`
}
