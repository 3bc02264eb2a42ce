/**
 * Reads a line of `synapse call`'s input: a call, or the cancellation of one.
 *
 * @since 0.1.0
 */
import { isUtf8 } from "node:buffer"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { InvalidUsage } from "../domain/CommandError.js"
import * as ToolCall from "../domain/ToolCall.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import type { Line } from "./Lines.js"

/**
 * A line of the input: a tool call, the cancellation of a call by its id, or nothing.
 *
 * @since 0.1.0
 * @category models
 */
export type CallLine = Data.TaggedEnum<{
  Call: { readonly call: ToolCall.ToolCall }
  Cancel: { readonly id: string }
  Blank: Record<never, never>
}>

/**
 * Makes a CallLine, and takes one apart with `$match`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const CallLine = Data.taggedEnum<CallLine>()

/**
 * The answer to a line that is neither. It has the id of the call where the line tells it, and null otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rejection extends Omit<ToolReturn.ToolReturn, "toolCallId"> {
  readonly toolCallId: string | null
}

const Call = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  arguments: ToolCall.Arguments
})
const Cancel = Schema.Struct({ cancel: Schema.String })

const form = 'A line is {"id":"1","name":"Bash","arguments":"{\\"command\\":\\"ls\\"}"} or {"cancel":"1"}.'

/**
 * The most bytes of a line.
 *
 * @since 0.1.0
 */
export const longest = 64 * 1024 ** 2

/**
 * Reads a line; on the left, the answer to an invalid one. Unknown keys are ignored.
 *
 * @since 0.1.0
 * @category parsing
 */
export const read = (line: Line): Either.Either<CallLine, Rejection> => {
  try {
    return readShallow(line)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return Either.left(reject(null, `The line is nested too deeply, and was not run. ${form}`))
  }
}

/** Throws a RangeError for what JavaScript has no stack for. */
const readShallow = (line: Line): Either.Either<CallLine, Rejection> => {
  if (line === undefined) {
    const reason = `The line is longer than ${longest / 1024 ** 2} MiB, and was not read. Write what is that long to a file.`
    return Either.left(reject(null, reason))
  }
  // JavaScript's own idea of white space has the byte order mark in it.
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString().trim()
  if (text === "") return Either.right(CallLine.Blank())
  // What can't be decoded has become this character: to run such a text would run another than was sent.
  return text.includes("\ufffd") && !isUtf8(line) ? Either.left(notText(line, text)) : parse(text)
}

/** Makes the answer to a line that is not UTF-8, with the call's id where that is. */
const notText = (line: Uint8Array, text: string): Rejection => {
  const parsed = Either.getOrUndefined(parse(text))
  const id = parsed?._tag === "Call" && !parsed.call.id.includes("\ufffd") ? parsed.call.id : null
  const at = firstFlaw(line)
  const byte = `0x${line[at]?.toString(16).padStart(2, "0")}`
  return reject(
    id,
    `The line is not UTF-8: byte ${at + 1} is ${byte}. It was not run. Send text as UTF-8, and let printf write other bytes: printf '\\xff'.`
  )
}

/** Returns the index of the first byte that is not what the decoded text says. */
const firstFlaw = (line: Uint8Array): number => {
  const decoded = Buffer.from(Buffer.from(line).toString())
  return line.findIndex((byte, at) => byte !== decoded[at])
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
  // A schema takes ten times as long as all else here: thousands of lines may come at once.
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
    return reject(
      typeof value["id"] === "string" ? value["id"] : null,
      `Invalid parameters: ${problems.join("; ")}. ${form}`
    )
  })
}

const isCall = (value: Partial<typeof Call.Type>): value is typeof Call.Type =>
  typeof value.id === "string" &&
  value.id !== "" &&
  typeof value.name === "string" &&
  (typeof value.arguments === "string" || Predicate.isReadonlyRecord(value.arguments))

/**
 * Makes the answer to an invalid line.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reject = (id: string | null, reason: string, parseError?: string): Rejection => ({
  ...ToolReturn.fromError(
    { id: id ?? "" },
    new InvalidUsage({ reason }),
    parseError === undefined ? {} : { parseError }
  ),
  toolCallId: id
})

/**
 * Makes the answer to the cancellation of a call that has not come: it has no id, since that call may still come.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown = (id: string): Rejection => reject(null, `No call with the id ${id} is running.`)

/**
 * Makes the answer to the cancellation of a call that was answered before: it has no id, since that call has its answer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tooLate = (id: string): Rejection => reject(null, `The call ${id} was answered already.`)
