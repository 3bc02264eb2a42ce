/**
 * Makes the prompt of a task from its words and its standard input.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { CommandCall } from "../../command/CommandHandler.js"
import type { ExecutionFailed } from "../../domain/CommandError.js"

/**
 * The most bytes of a standard input, and the most characters of a prompt.
 *
 * @since 0.1.0
 */
export const most = 512 * 1024

const kibibytes = `${most / 1024} KiB`

/** Bytes of words that are not UTF-8 are lone surrogates (`ShellText`), which no request can hold. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd")

const read = (stdin: NonNullable<CommandCall["stdin"]>): Effect.Effect<string | undefined, ExecutionFailed> => {
  const chunks: Array<Uint8Array> = []
  return Stream.runFoldWhile(
    stdin,
    0,
    (size) => size <= most,
    (size, chunk) => {
      chunks.push(Uint8Array.from(chunk))
      return size + chunk.length
    }
  ).pipe(Effect.map((size) => (size > most ? undefined : Buffer.concat(chunks).toString())))
}

/**
 * Returns the prompt; on the left, why there is none.
 *
 * @since 0.1.0
 */
export const prompt = (
  given: string | undefined,
  stdin: CommandCall["stdin"]
): Effect.Effect<Either.Either<string, string>, ExecutionFailed> => {
  if (given !== undefined && given.trim() === "") return Effect.succeed(Either.left("--prompt is empty."))
  if (given !== undefined && given.length > most) return Effect.succeed(Either.left(tooLong("the prompt")))
  return Effect.map(stdin === undefined ? Effect.succeed("") : read(stdin), (input) => {
    if (input === undefined) return Either.left(tooLong("standard input"))
    const isEmpty = input.trim() === ""
    if (given === undefined) {
      return isEmpty
        ? Either.left("--prompt is missing, and standard input is empty.")
        : Either.right(wellFormed(input))
    }
    return Either.right(wellFormed(isEmpty ? given : `${given}\n\n<stdin>\n${input.replace(/\n?$/, "\n")}</stdin>`))
  })
}

const tooLong = (what: string): string =>
  `${what} is longer than ${kibibytes}: put it into a file, and tell its path in the prompt.`
