/** The transcript of a session of an agent. */
import { isUtf8 } from "node:buffer"
import * as Prompt from "@effect/ai/Prompt"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as JsonText from "../../domain/JsonText.js"
import * as Todo from "../../domain/Todo.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as RunLimits from "../loop/RunLimits.js"

const encodePart = Schema.encodeSync(
  Schema.Union(Prompt.TextPart, Prompt.ReasoningPart, Prompt.FilePart, Prompt.ToolCallPart, Prompt.ToolResultPart)
)

/** Encodes a message part by part, because the schema of messages only encodes the first of several texts. */
const encodeKeptMessage = ({ content, options, role }: Prompt.Message): object => ({
  role,
  content: typeof content === "string" ? content : content.map((part) => encodePart(part)),
  ...(Object.keys(options).length === 0 ? {} : { options })
})

/** The longest line, in bytes. */
export const longest = 16 * 1024 * 1024

const Usage = Schema.Struct({
  input: Schema.NonNegative,
  output: Schema.NonNegative,
  cached: Schema.NonNegative,
  cost: Schema.optionalWith(Schema.NonNegative, { exact: true })
})

/** The first line of a transcript. */
export const Session = Schema.Struct({
  type: Schema.Literal("session"),
  /** The version of the format; readers refuse an unknown one. */
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

export interface Session extends Schema.Schema.Type<typeof Session> {}

/** A run begins: the session's first, or one that resumes it. */
const Run = Schema.Struct({
  type: Schema.Literal("run"),
  time: Schema.String,
  provider: Schema.String,
  model: Schema.String,
  /** True if the run was read-only and should end with a plan. */
  isPlan: Schema.optionalWith(Schema.Boolean, { exact: true })
})

const Message = Schema.Struct({ type: Schema.Literal("message"), message: Prompt.Message })

/** A line of older transcripts, which marks a shortened conversation. It is ignored: the run shortens again. */
const Compacted = Schema.Struct({ type: Schema.Literal("compacted") })

const Todos = Schema.Struct({
  type: Schema.Literal("todos"),
  todos: Schema.Array(Schema.Struct({ content: Schema.String, activeForm: Schema.String, status: Todo.Status }))
})

/** A turn is complete. The turns and the usage are the session's so far. */
const Turn = Schema.Struct({ type: Schema.Literal("turn"), turns: Schema.NonNegativeInt, usage: Usage })

const EntryEnd = Schema.Struct({
  type: Schema.Literal("end"),
  time: Schema.String,
  ending: Schema.String,
  reason: Schema.optionalWith(Schema.String, { exact: true }),
  turns: Schema.NonNegativeInt,
  usage: Usage
})

const Plain = Schema.Union(Session, Run, Todos, Turn, EntryEnd, Compacted)
const Line = Schema.Union(Plain, Message)

export type Entry = typeof Line.Type

const decodeLine = Schema.decodeUnknownEither(Line)
const encodeLine = Schema.encodeSync(Plain)

const encoded = (entry: Entry): object =>
  entry.type === "message" ? { type: entry.type, message: encodeKeptMessage(entry.message) } : encodeLine(entry)

/** Encodes an entry as a line with its newline, or says why that is impossible. */
export const encode = (entry: Entry): Either.Either<Uint8Array, string> => {
  const bytes = Buffer.from(`${UntrustedText.jsonLine(encoded(entry))}\n`)
  return bytes.length > longest ? Either.left(`a message is larger than ${longest} bytes`) : Either.right(bytes)
}

/** Decodes a line without its newline, or says why that is impossible. */
export const decode = (bytes: Uint8Array): Either.Either<Entry, string> => {
  if (bytes.length > longest) return Either.left(`it is longer than ${longest} bytes`)
  if (!isUtf8(bytes)) return Either.left("it is not UTF-8")
  return JsonText.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)).pipe(
    Either.mapLeft(({ reason }) => reason),
    Either.flatMap((value) => Either.mapLeft(decodeLine(value), () => "it is no line of a transcript"))
  )
}

export interface End {
  /** An `Ending` of the loop, or `interrupted`. */
  readonly ending: string
  readonly reason: string | undefined
}

export interface Transcript {
  readonly session: Session
  /** The conversation. If the process was killed, calls may lack results. */
  readonly messages: ReadonlyArray<Prompt.Message>
  /** The last todo list. */
  readonly todos: ReadonlyArray<Todo.Todo>
  /** The turns and the usage of all runs. */
  readonly turns: number
  readonly usage: RunLimits.TokenUsage
  /** The provider and the model of the last run. */
  readonly model: { readonly provider: string; readonly name: string } | undefined
  /** True if the last run should end with a plan. */
  readonly isPlan: boolean
  /** How the last run ended; undefined if it goes on, or was killed. */
  readonly end: End | undefined
  /** The bytes of the complete lines. After a crash, a partial line may follow. */
  readonly length: number
}

const newline = 0x0a

type State = { -readonly [Key in keyof Omit<Transcript, "messages">]: Transcript[Key] } & {
  readonly messages: Array<Prompt.Message>
}

const usageOf = (usage: Extract<Entry, { readonly type: "turn" }>["usage"]): RunLimits.TokenUsage => ({
  cost: undefined,
  ...usage
})

const add = (state: State, entry: Exclude<Entry, Session>): void => {
  switch (entry.type) {
    case "run":
      state.model = { provider: entry.provider, name: entry.model }
      state.isPlan = entry.isPlan === true
      state.end = undefined
      return
    case "message":
      state.messages.push(entry.message)
      return
    case "todos":
      state.todos = entry.todos
      return
    case "turn":
      state.turns = entry.turns
      state.usage = usageOf(entry.usage)
      return
    case "end":
      state.end = { ending: entry.ending, reason: entry.reason }
      state.turns = entry.turns
      state.usage = usageOf(entry.usage)
  }
}

export const begin = (session: Session): Transcript => ({
  session,
  messages: [],
  todos: [],
  turns: 0,
  usage: RunLimits.none,
  model: undefined,
  isPlan: false,
  end: undefined,
  length: 0
})

const sessionOf = (entry: Entry, id: string): Either.Either<Session, string> => {
  if (entry.type !== "session") return Either.left("it does not begin as a transcript")
  if (entry.version !== 1) return Either.left("a newer version of Synapse wrote it")
  return entry.id === id ? Either.right(entry) : Either.left("it is the transcript of another session")
}

/**
 * Reads a transcript, or says why that is impossible. Skips a last line without a newline.
 *
 * @param id the session's id, from the file's name
 */
export const read = (bytes: Uint8Array, id: string): Either.Either<Transcript, string> => {
  let state: State | undefined
  for (let start = 0, line = 1; ; line++) {
    const end = bytes.indexOf(newline, start)
    if (end < 0) break
    const decoded = decode(bytes.subarray(start, end))
    if (Either.isLeft(decoded)) return Either.left(`line ${line}: ${decoded.left}`)
    const entry = decoded.right
    if (state === undefined) {
      const session = sessionOf(entry, id)
      if (Either.isLeft(session)) return Either.left(session.left)
      state = { ...begin(session.right), messages: [] }
    } else if (entry.type === "session") return Either.left(`line ${line}: a session begins in it once more`)
    else add(state, entry)
    start = end + 1
    state.length = start
  }
  return state === undefined ? Either.left("it ends before its first line does") : Either.right(state)
}
