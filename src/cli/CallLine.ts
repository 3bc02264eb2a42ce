/**
 * Parses a line of `synapse call`'s input: a call, or the cancellation of one.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { InvalidUsage } from "../domain/CommandError.js"
import * as ToolCall from "../domain/ToolCall.js"
import * as ToolReturn from "../toolset/ToolReturn.js"

/**
 * A line of the input: a tool call, or the cancellation of a running call by its id.
 *
 * @since 0.1.0
 * @category models
 */
export type CallLine = Data.TaggedEnum<{
  Call: { readonly call: ToolCall.ToolCall }
  Cancel: { readonly id: string }
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
 * Parses a line; on the left, the answer to an invalid one. Unknown keys are ignored.
 *
 * @since 0.1.0
 */
export const parse = (line: string): Either.Either<CallLine, Rejection> => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const { message } = error as SyntaxError
    return Either.left(reject(null, `The line is not JSON: ${message}. ${form}`, message))
  }
  if (!Predicate.isReadonlyRecord(value)) return Either.left(reject(null, `The line is no JSON object. ${form}`))
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
