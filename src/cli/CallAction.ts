/** Answers the calls of `synapse call`. */
import { isUtf8 } from "node:buffer"
import type { ConfigError } from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as CallContext from "../domain/CallContext.js"
import { InvalidUsage } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ToolCall from "../domain/ToolCall.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import { Jobs } from "../session/Jobs.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import { stillRunning, Toolset } from "../toolset/Toolset.js"
import { App } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

/** The estimated memory of a call besides its text, in bytes. */
const overhead = 16 * 1024
/** No more input is read while unanswered calls use this many bytes. */
const capacity = 64 * 1024 ** 2

const weightOf = (call: ToolCall.ToolCall): number =>
  overhead + call.id.length + call.name.length + call.arguments.length

const newline = 0x0a
const carriageReturn = 0x0d

/** The bytes of a line without its end. Undefined for a line that is too long. */
type Line = Uint8Array | undefined

/** Splits chunks into lines of at most `limit` bytes. */
export class Lines {
  private parts: Array<Uint8Array> = []
  private length = 0

  constructor(private readonly limit: number) {}

  /**
   * Takes a chunk, and returns the lines that it completes. They share its memory, so use them before it is reused.
   */
  push(chunk: Uint8Array): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.add(chunk.subarray(start, end))
      lines.push(this.flush())
      start = end + 1
    }
    if (start < chunk.length) this.add(Uint8Array.from(chunk.subarray(start)))
    return lines
  }

  /** Returns the last line, if it has no newline. */
  end(): ReadonlyArray<Line> {
    return this.length === 0 ? [] : [this.flush()]
  }

  private add(part: Uint8Array): void {
    this.length += part.length
    if (this.length <= this.limit) this.parts.push(part)
    else this.parts = []
  }

  private flush(): Line {
    const [first = new Uint8Array(), ...others] = this.parts
    const line = others.length === 0 ? first : Buffer.concat(this.parts)
    const isKept = this.length <= this.limit
    this.parts = []
    this.length = 0
    if (!isKept) return undefined
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  }
}

/** A line of the input: a tool call, the cancellation of a call by its id, or nothing. */
type CallLine = Data.TaggedEnum<{
  Call: { readonly call: ToolCall.ToolCall }
  Cancel: { readonly id: string }
  Blank: Record<never, never>
}>

const CallLine = Data.taggedEnum<CallLine>()

/** The answer to an invalid line. It has the id of the call if the line tells it, and null otherwise. */
interface Rejection extends Omit<ToolReturn.ToolReturn, "toolCallId"> {
  readonly toolCallId: string | null
}

const Call = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  arguments: ToolCall.Arguments
})
const Cancel = Schema.Struct({ cancel: Schema.String })

const form = 'A line is {"id":"1","name":"Bash","arguments":{"command":"ls"}} or {"cancel":"1"}.'

const longest = 64 * 1024 ** 2

/** Reads a line. The left side is the answer to an invalid one. Unknown keys are ignored. */
const read = (line: Line): Either.Either<CallLine, Rejection> => {
  try {
    return readShallow(line)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return Either.left(reject(null, `The line is nested too deeply, and was not run. ${form}`))
  }
}

/** Throws RangeError for JSON that overflows the stack. */
const readShallow = (line: Line): Either.Either<CallLine, Rejection> => {
  if (line === undefined) {
    const reason = `The line is longer than ${longest / 1024 ** 2} MiB, and was not read. Write what is that long to a file.`
    return Either.left(reject(null, reason))
  }
  // `trim` also removes a byte order mark.
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString().trim()
  if (text === "") return Either.right(CallLine.Blank())
  // Decoding replaces invalid bytes by this character, so the text would be another command than was sent.
  return text.includes("\ufffd") && !isUtf8(line) ? Either.left(notText(text)) : parse(text)
}

/** Makes the answer to a line that is not UTF-8, with the call's id if the id is valid. */
const notText = (text: string): Rejection => {
  const parsed = Either.getOrUndefined(parse(text))
  const id = parsed?._tag === "Call" && !parsed.call.id.includes("\ufffd") ? parsed.call.id : null
  return reject(
    id,
    "The line is not UTF-8, and was not run. Send text as UTF-8, and let printf write other bytes: printf '\\xff'."
  )
}

const parse = (line: string): Either.Either<CallLine, Rejection> => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const { message } = error as SyntaxError
    return Either.left(reject(null, `The line is not JSON: ${message}. ${form}`, message))
  }
  if (!Predicate.isReadonlyRecord(value)) return Either.left(reject(null, `The line is no JSON object. ${form}`))
  const call = value as Partial<typeof Call.Type>
  // A schema takes ten times as long as everything else here, and thousands of lines may come at once.
  if (!("cancel" in value) && isCall(call)) return Either.right(CallLine.Call({ call: ToolCall.make(call) }))
  const decoded: Either.Either<CallLine, ParseResult.ParseError> =
    "cancel" in value
      ? Either.map(Schema.decodeUnknownEither(Cancel)(value), ({ cancel }) => CallLine.Cancel({ id: cancel }))
      : Either.map(Schema.decodeUnknownEither(Call, { errors: "all" })(value), (call) =>
          CallLine.Call({ call: ToolCall.make(call) })
        )
  return Either.mapLeft(decoded, (error) => {
    const problems = ParseResult.ArrayFormatter.formatErrorSync(error).map(
      ({ message, path }) => `${path.join(".")}: ${message}`
    )
    const { id } = value
    return reject(
      typeof id === "string" || typeof id === "number" ? `${id}` : null,
      `Invalid parameters: ${problems.join("; ")}. ${form}`
    )
  })
}

const isCall = (value: Partial<typeof Call.Type>): value is typeof Call.Type =>
  typeof value.id === "string" &&
  value.id !== "" &&
  typeof value.name === "string" &&
  (typeof value.arguments === "string" || Predicate.isReadonlyRecord(value.arguments))

const reject = (id: string | null, reason: string, parseError?: string): Rejection => ({
  ...ToolReturn.fromError(
    { id: id ?? "" },
    new InvalidUsage({ reason }),
    parseError === undefined ? {} : { parseError }
  ),
  toolCallId: id
})

/**
 * Makes the answer to cancelling a call that is not running. It has no id, since each call gets exactly one answer with
 * its id.
 */
const notRunning = (id: string): Rejection => reject(null, `No call with the id ${id} is running.`)

interface CallServer {
  /** Takes a line: starts its call, which the session queues, or cancels one. Waits if the answer has to wait. */
  readonly take: (line: Line) => Effect.Effect<void>
  /** Waits while too many calls are unanswered. */
  readonly ready: Effect.Effect<void>
  readonly finished: Effect.Effect<void>
}

/** Makes a server that writes its answers with `answer`. Its calls end with the scope. */
const make = (
  answer: (result: ToolReturn.ToolReturn | Rejection) => Effect.Effect<void>
): Effect.Effect<CallServer, never, Scope.Scope | Stdio | Toolset> =>
  Effect.gen(function* () {
    const toolset = yield* Toolset
    const { write } = yield* Stdio
    // Called when the sandbox ends, with what it takes back.
    const listener = { onHint: (text: string) => void write("stderr", `synapse: ${text}\n`) }
    const tools = new Set(toolset.tools.map(({ name }) => name))
    const fibers = yield* FiberSet.make<void>()
    // Starts a call at once, so that a cancellation on the next line finds it.
    const fork = yield* FiberSet.runtime(fibers)<never>()
    /** The ids of the calls whose answers are not written yet. */
    const open = new Set<string>()
    let weight = 0
    let onRoom = () => {}

    const start = (call: ToolCall.ToolCall): Effect.Effect<void> => {
      const answered = Effect.flatMap(CallContext.locally(toolset.handle(call), { listener }), answer)
      // An unknown tool is answered at once.
      if (!tools.has(call.name)) return answered
      if (open.has(call.id)) return answer(stillRunning(call))
      return Effect.sync(() => {
        open.add(call.id)
        weight += weightOf(call)
        const ended = Effect.sync(() => {
          open.delete(call.id)
          weight -= weightOf(call)
          if (weight < capacity) onRoom()
        })
        fork(Effect.ensuring(answered, ended))
      })
    }

    const cancel = (id: string): Effect.Effect<void> =>
      // If the call has just ended, its answer is on the way.
      open.has(id) ? Effect.sync(() => void fork(Effect.asVoid(toolset.cancel(id)))) : answer(notRunning(id))

    return {
      take: (line) =>
        Either.match(read(line), {
          onLeft: answer,
          onRight: CallLine.$match({
            Blank: () => Effect.void,
            Call: ({ call }) => start(call),
            Cancel: ({ id }) => cancel(id)
          })
        }),
      ready: Effect.async((resume) => {
        onRoom = () => resume(Effect.void)
        if (weight < capacity) onRoom()
      }),
      finished: FiberSet.awaitEmpty(fibers)
    }
  })

export interface Given extends SessionOptions.Given {
  /** True to leave out fields of results that repeat `output`. */
  readonly brief: boolean
  /** True to print a line each time a job begins or ends. */
  readonly events: boolean
}

/** Answers every line until the input ends, then waits for the running calls. */
const serve = ({ brief, events }: Given): Effect.Effect<void, never, Jobs | Scope.Scope | Stdio | Toolset> =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const say = (line: object) =>
      Effect.suspend(() => {
        const waiting = stdio.write("stdout", `${JSON.stringify(line)}\n`)
        return waiting === undefined ? Effect.void : Effect.promise(() => waiting)
      })
    const { changes } = yield* Jobs
    if (events) yield* Effect.forkScoped(Stream.runForEach(changes, (job) => say({ event: "job", job })))
    const server = yield* make((result) => say(brief ? ToolReturn.brief(result) : result))
    const lines = new Lines(longest)
    for (let chunk = yield* stdio.read; chunk !== undefined; chunk = yield* stdio.read) {
      yield* Effect.forEach(lines.push(chunk), server.take, { discard: true })
      yield* server.ready
    }
    yield* Effect.forEach(lines.end(), server.take, { discard: true })
    yield* server.finished
  })

export const call = (given: Given): Effect.Effect<number, ConfigError, App | Stdio> =>
  Effect.gen(function* () {
    yield* SessionOptions.tell(given)
    const app = yield* App
    // The calling program owns the terminal, so a question is asked only with `--ask terminal`.
    const permission = SessionOptions.isTold(given.ask) ? PermissionPrompt.layer : undefined
    yield* Effect.provide(
      // Calls that Synapse answers itself have no other limit.
      CallContext.locally(Effect.scoped(serve(given)), { timeout: Option.getOrUndefined(given.timeout) }),
      app.layer(...SessionOptions.toSettings(given), permission)
    )
    return ExitCode.success
  })
