/**
 * Makes messages fit to be kept: a transcript holds texts, and of files only the images of results, which its recorder bounds.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as Nesting from "../../domain/Nesting.js"

/** The most levels of arrays and objects in what a model wrote; a reader allows 200 in a whole line. */
const deepest = 100

const bounded = (value: unknown): unknown =>
  Nesting.isDeeperThan(value, deepest) ? `(nested deeper than ${deepest} levels: not kept)` : value

const sizeOf = (data: string | Uint8Array | URL): string =>
  data instanceof URL ? "" : `, ${typeof data === "string" ? Math.floor((data.length * 3) / 4) : data.length} bytes`

/** Describes a file in place of its content. */
const described = ({ data, fileName, mediaType }: Prompt.FilePart): Prompt.TextPart =>
  Prompt.textPart({
    text: `(A file was here, which is not kept: ${fileName === undefined ? "" : `${fileName}, `}${mediaType}${sizeOf(data)})`
  })

const encodePart = Schema.encodeSync(
  Schema.Union(Prompt.TextPart, Prompt.ReasoningPart, Prompt.FilePart, Prompt.ToolCallPart, Prompt.ToolResultPart)
)

/**
 * Encodes a message as the schema of messages reads it. That schema itself would encode a message of several texts as the
 * first of them.
 */
export const encode = (message: Prompt.Message): object => {
  const { content, options, role } = of(message)
  return {
    role,
    content: typeof content === "string" ? content : content.map((part) => encodePart(part)),
    ...(Object.keys(options).length === 0 ? {} : { options })
  }
}

/**
 * Returns a message with a line of text in the place of each file, and in the place of values that are nested too deeply.
 */
export const of = (message: Prompt.Message): Prompt.Message => {
  switch (message.role) {
    case "system":
      return message
    case "user":
      return Prompt.makeMessage("user", {
        options: message.options,
        content: message.content.map((part) => (part.type === "file" ? described(part) : part))
      })
    case "assistant":
      return Prompt.makeMessage("assistant", {
        options: message.options,
        content: message.content.map((part) => {
          switch (part.type) {
            case "file":
              return described(part)
            case "tool-call":
              return Prompt.toolCallPart({ ...part, params: bounded(part.params) })
            case "tool-result":
              return Prompt.toolResultPart({ ...part, result: bounded(part.result) })
            default:
              return part
          }
        })
      })
    case "tool":
      return Prompt.makeMessage("tool", {
        options: message.options,
        content: message.content.map((part) => Prompt.toolResultPart({ ...part, result: bounded(part.result) }))
      })
  }
}
