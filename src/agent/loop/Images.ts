/** Removes images from a conversation that has no room for them, or whose provider refuses them. */
import * as Prompt from "@effect/ai/Prompt"
import * as ResultImage from "../model/ResultImage.js"

/** The most base64 characters of an image and of a request, and the most images of a request. Providers refuse more. */
const bounds = { one: 5 * 1024 ** 2, all: 20 * 1024 ** 2, count: 20 }

type Reason = "large" | "off" | "refused" | "room" | "transcript"
type ReasonOf = (image: ResultImage.ResultImage) => Reason | undefined

const words: Readonly<Record<Reason, string>> = {
  large: `it is larger than ${((bounds.one * 3) / 4 / 1024 ** 2).toFixed(2)} MiB`,
  off: "this model is set up to get none",
  refused: "the provider refused it",
  room: "to save room; read it again where you need it",
  transcript: "it is not kept with the session; read it again where you need it"
}

/** Removes the images that `reasonOf` gives a reason for, and notes it in the result's text. */
const filter = (part: Prompt.ToolResultPart, reasonOf: ReasonOf): Prompt.ToolResultPart => {
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

export const filterMessage = (message: Prompt.Message, reasonOf: ReasonOf): Prompt.Message =>
  message.role !== "tool" || message.content.every((part) => ResultImage.of(part).length === 0)
    ? message
    : Prompt.toolMessage({
        content: message.content.map((part) => filter(part, reasonOf)),
        options: message.options
      })

export const of = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<ResultImage.ResultImage> =>
  messages.flatMap((message) => (message.role === "tool" ? message.content.flatMap(ResultImage.of) : []))

export const count = (messages: ReadonlyArray<Prompt.Message>): number => of(messages).length

/** Removes all images from messages, or with `seen` only the images that the model has already seen. */
export const without = (
  messages: ReadonlyArray<Prompt.Message>,
  reason: Reason,
  which: "all" | "seen" = "all"
): ReadonlyArray<Prompt.Message> => {
  const last = which === "all" ? messages.length : messages.findLastIndex(({ role }) => role === "assistant")
  return messages.map((message, at) => (at < last ? filterMessage(message, () => reason) : message))
}

/**
 * Removes images that are too large, and the oldest ones if there are too many. It goes down to half the limits,
 * because each change of old messages invalidates the provider's cache.
 */
export const bounded = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.Message> => {
  const fit = messages.map((message) =>
    filterMessage(message, ({ base64 }) => (base64.length > bounds.one ? "large" : undefined))
  )
  const sizes = of(fit).map(({ base64 }) => base64.length)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  if (sizes.length <= bounds.count && all <= bounds.all) return fit
  let room = bounds.all / 2
  let gone = sizes.length
  while (gone > Math.max(0, sizes.length - bounds.count / 2) && room >= (sizes[gone - 1] ?? 0)) {
    gone--
    room -= sizes[gone] ?? 0
  }
  let at = 0
  return fit.map((message) => filterMessage(message, () => (at++ < gone ? "room" : undefined)))
}
