/**
 * Bounds the images of a conversation, and leaves out those that it has no room for, or that a provider does not take. A
 * line in the result's text stands in the place of each.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as ResultImage from "../model/ResultImage.js"

/**
 * The most characters of an image in base64, of all images of a request, and the most images of one: providers refuse
 * more.
 */
export const bounds = { one: 5 * 1024 ** 2, all: 20 * 1024 ** 2, count: 20 }

/** The reason for which an image is left out, in the words that the model reads. */
export type Reason = "large" | "off" | "refused" | "room" | "transcript"

const words: Readonly<Record<Reason, string>> = {
  large: `it is larger than ${((bounds.one * 3) / 4 / 1024 ** 2).toFixed(2)} MiB`,
  off: "this model is set up to get none",
  refused: "the provider refused it",
  room: "to save room; read it again where you need it",
  transcript: "it is not kept with the session; read it again where you need it"
}

/** A result, by its place. */
interface Place {
  readonly message: number
  readonly part: number
}

/** Returns a result without those of its images that fail a test. An image without a reason stays. */
export const filter = (
  part: Prompt.ToolResultPart,
  reasonOf: (image: ResultImage.ResultImage) => Reason | undefined
): Prompt.ToolResultPart => {
  const images = ResultImage.of(part)
  const reasons = images.map(reasonOf)
  const gone = reasons.filter((reason) => reason !== undefined)
  if (gone.length === 0) return part
  const kept = ResultImage.put(
    part,
    images.filter((_, at) => reasons[at] === undefined)
  )
  if (typeof part.result !== "string") return kept
  const notes = gone.map((reason) => `[image left out: ${words[reason]}]`)
  return { ...kept, result: [part.result.replace(/\n$/, ""), ...notes, ""].join("\n") }
}

const map = (
  messages: ReadonlyArray<Prompt.Message>,
  change: (part: Prompt.ToolResultPart, place: Place) => Prompt.ToolResultPart
): ReadonlyArray<Prompt.Message> =>
  messages.map((message, at) => {
    if (message.role !== "tool") return message
    const content = message.content.map((part, index) => change(part, { message: at, part: index }))
    return content.every((part, index) => part === message.content[index])
      ? message
      : Prompt.toolMessage({ content, options: message.options })
  })

/** Returns a message without those of its images that fail a test. */
export const filterMessage = (
  message: Prompt.Message,
  reasonOf: (image: ResultImage.ResultImage) => Reason | undefined
): Prompt.Message => map([message], (part) => filter(part, reasonOf))[0] ?? message

/** Returns the images of messages. */
export const of = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<ResultImage.ResultImage> =>
  messages.flatMap((message) => (message.role === "tool" ? message.content.flatMap(ResultImage.of) : []))

/** Returns the number of images. */
export const count = (messages: ReadonlyArray<Prompt.Message>): number => of(messages).length

/** Leaves out all images; with `seen`, only those that the model has seen already. */
export const without = (
  messages: ReadonlyArray<Prompt.Message>,
  reason: Reason,
  which: "all" | "seen" = "all"
): ReadonlyArray<Prompt.Message> => {
  const last = which === "all" ? messages.length : messages.findLastIndex(({ role }) => role === "assistant")
  return map(messages, (part, { message }) => (message < last ? filter(part, () => reason) : part))
}

/**
 * Leaves out what is beyond the bounds: images that are too large, and the oldest where there are too many. The latter go
 * by halves, for with each change of old messages, the provider's cache of the conversation is lost.
 */
export const bounded = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const fit = map(messages, (part) => filter(part, ({ base64 }) => (base64.length > bounds.one ? "large" : undefined)))
  const sizes = of(fit).map(({ base64 }) => base64.length)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  if (sizes.length <= bounds.count && all <= bounds.all) return fit
  let [left, room] = [bounds.count / 2, bounds.all / 2]
  let first = sizes.length
  for (; first > 0 && left > 0 && room >= (sizes[first - 1] ?? 0); first--) {
    left--
    room -= sizes[first - 1] ?? 0
  }
  let at = 0
  return map(fit, (part) => filter(part, () => (at++ < first ? "room" : undefined)))
}
