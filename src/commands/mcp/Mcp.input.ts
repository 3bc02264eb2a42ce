/**
 * Reads the arguments of a call that are given as one JSON object.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { CommandCall } from "../../command/CommandHandler.js"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Slices from "../../domain/Slices.js"
import * as Check from "./Mcp.check.js"
import * as Json from "./Mcp.json.js"
import { isRecord } from "./Mcp.schema.js"
import type { CallableTool } from "./Mcp.tool.js"

/** The most megabytes of an input. */
const most = 32

/**
 * Reads an input as text; on the left, why it is none.
 *
 * @since 0.1.0
 */
export const read = (
  stdin: NonNullable<CommandCall["stdin"]>
): Effect.Effect<Either.Either<string, string>, ExecutionFailed> => {
  const limit = most * 1024 ** 2
  const chunks: Array<Uint8Array> = []
  return Stream.runFoldWhile(
    stdin,
    0,
    (size) => size <= limit,
    (size, chunk) => {
      chunks.push(Uint8Array.from(chunk))
      return size + chunk.length
    }
  ).pipe(
    Effect.map((size) => {
      if (size > limit) return Either.left(`standard input has more than ${most} MiB.`)
      return Either.try({
        try: () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)),
        catch: () => "standard input is no UTF-8, which JSON needs."
      })
    })
  )
}

/**
 * Parses the arguments of a tool, and checks them against its schema; on the left, what is wrong with them.
 *
 * @param source what they come from, as the message names it: `--json`
 * @since 0.1.0
 * @category parsing
 */
export const parse = (
  tool: CallableTool,
  json: string,
  source: string
): Effect.Effect<Either.Either<Readonly<Record<string, unknown>>, string>> =>
  Effect.map(
    Slices.run(() => Json.steps(json)),
    Either.flatMap((value) => {
      if (!isRecord(value)) return Either.left("it must be an object: {…}")
      const { fields } = tool
      const reason = Check.misfitOfArguments(tool.reader, fields, value)
      return reason === undefined ? Either.right(value) : Either.left(reason)
    })
  ).pipe(
    Effect.map(
      Either.mapLeft((reason) => (isSentence(reason) ? reason : `${source}: ${ForeignText.word(reason, 300)}.`))
    )
  )

/** A problem of one parameter names that parameter itself. */
const isSentence = (reason: string): boolean => /[.?]$/.test(reason)
