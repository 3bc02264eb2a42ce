/** The lines of a transcript: the beginning of the session, its runs, messages and turns, and how each run ended. */
import * as Prompt from "@effect/ai/Prompt"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as JsonLine from "../../domain/JsonLine.js"
import * as JsonText from "../../domain/JsonText.js"
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
export const encodeKeptMessage = (message: Prompt.Message): object => {
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
const of = (message: Prompt.Message): Prompt.Message => {
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

/** The most bytes of a line. */
export const longest = 16 * 1024 * 1024

/** Tokens and their price, as in `TokenUsage`. */
const Usage = Schema.Struct({
  input: Schema.NonNegative,
  output: Schema.NonNegative,
  cached: Schema.NonNegative,
  cost: Schema.optionalWith(Schema.NonNegative, { exact: true })
})

/** The first line of a transcript. */
export const Session = Schema.Struct({
  type: Schema.Literal("session"),
  /** The version of the format; a reader refuses one that it does not know. */
  version: Schema.Number,
  id: Schema.String,
  /** When it began, as ISO 8601. */
  time: Schema.String,
  /** The real path of the directory that its shell starts in. */
  cwd: Schema.String,
  /** The beginning of the first prompt. */
  prompt: Schema.String,
  /** The version of Synapse that wrote it. */
  synapse: Schema.String
})

/** The first line of a transcript. */
export interface Session extends Schema.Schema.Type<typeof Session> {}

/** A run begins: the first one, or one that resumes the session. */
const Run = Schema.Struct({
  type: Schema.Literal("run"),
  time: Schema.String,
  provider: Schema.String,
  model: Schema.String
})

const Message = Schema.Struct({ type: Schema.Literal("message"), message: Prompt.Message })

/** The conversation was made shorter: these are the messages that the next request held. */
const Compacted = Schema.Struct({ type: Schema.Literal("compacted"), messages: Schema.Array(Prompt.Message) })

/** A turn is whole. The turns and the usage are those of the session so far. */
const Turn = Schema.Struct({ type: Schema.Literal("turn"), turns: Schema.NonNegativeInt, usage: Usage })

/** A run has ended. */
const End = Schema.Struct({
  type: Schema.Literal("end"),
  time: Schema.String,
  ending: Schema.String,
  reason: Schema.optionalWith(Schema.String, { exact: true }),
  turns: Schema.NonNegativeInt,
  usage: Usage
})

const Plain = Schema.Union(Session, Run, Turn, End)
const Line = Schema.Union(Plain, Message, Compacted)

/** A line of a transcript. */
export type Entry = typeof Line.Type

const decodeLine = Schema.decodeUnknownEither(Line)
const encodeLine = Schema.encodeSync(Plain)

const encoded = (entry: Entry): object => {
  if (entry.type === "message") return { type: entry.type, message: encodeKeptMessage(entry.message) }
  return entry.type === "compacted"
    ? { type: entry.type, messages: entry.messages.map(encodeKeptMessage) }
    : encodeLine(entry)
}

/** Encodes an entry as the bytes of a line, with its newline. On the left is the reason why it can't be kept. */
export const encode = (entry: Entry): Either.Either<Uint8Array, string> =>
  Either.flatMap(
    Either.try({
      try: () => Buffer.from(`${JsonLine.of(encoded(entry))}\n`),
      catch: (error) => `a message can't be written as JSON: ${error instanceof Error ? error.message : String(error)}`
    }),
    (bytes) => (bytes.length > longest ? Either.left(`a message is larger than ${longest} bytes`) : Either.right(bytes))
  )

/** Decodes the bytes of a line, without its newline. On the left is the reason why they are no entry. */
export const decode = (bytes: Uint8Array): Either.Either<Entry, string> => {
  if (bytes.length > longest) return Either.left(`it is longer than ${longest} bytes`)
  return Either.flatMap(
    Either.try({
      try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
      catch: () => "it is not UTF-8"
    }),
    (text) =>
      Either.flatMap(
        Either.mapLeft(JsonText.parse(text), ({ reason }) => reason),
        (value) => Either.mapLeft(decodeLine(value), () => "it is no line of a transcript")
      )
  )
}
