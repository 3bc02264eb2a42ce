/** Says what is wrong with a call of `read`, and which call is right. */
import * as Effect from "effect/Effect"
import * as Arguments from "../../../command/Arguments.js"
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { Described } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import { type ExecutionFailed, InvalidUsage } from "../../../domain/CommandError.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { FileError, Files } from "../../../files/Files.js"
import * as Range from "./Read.range.js"

/** Converts a FileError, and tells how to read what may have no end. */
export const ofFile = (error: FileError): ExecutionFailed =>
  error.kind === "special"
    ? FileFailure.make("read", error.path, error.reason, {
        advice: [Advice.line`${FileFailure.run("timeout 5 head -c 4096", error.path)} shows what comes of it.`],
        cause: error
      })
    : FileFailure.fromFileError("read", error)

/**
 * Makes the error of an operand that names no file: its range is wrong where the file before it exists.
 *
 * @param otherwise the error where it does not
 */
export const ofMissing = Effect.fnUntraced(function* (
  files: Files,
  error: FileError,
  otherwise: FileError = error
): Effect.fn.Return<never, ExecutionFailed | InvalidUsage> {
  const misread = Range.parseMisread(error.path)
  if (misread === undefined || !(yield* exists(files, misread.path))) return yield* ofNothing(files, otherwise)
  const { meant, path, written } = misread
  const name = FileFailure.toWord(path)
  return yield* new InvalidUsage({
    reason: `read: ${FileFailure.printable(path)}: ${Arguments.quoted(written)} is no range of lines`,
    advice: [
      meant === undefined
        ? Advice.line`A range is ${Advice.typed(`${name}:20-40`)}, ${Advice.typed(`${name}:20-`)} or ${Advice.typed(`${name}:20`)}.`
        : Advice.line`${Advice.run(`read ${name}:${meant}`)} shows lines that there can be.`
    ]
  })
})

/** Makes the error of what is not there: it names the file that is meant by `file_path=…`, or the directory above that is. */
const ofNothing = Effect.fnUntraced(function* (
  files: Files,
  error: FileError
): Effect.fn.Return<never, ExecutionFailed> {
  if (error.kind !== "missing") return yield* ofFile(error)
  const named = parameter.exec(error.path)?.[1]
  if (named !== undefined && (yield* exists(files, named))) {
    const advice = [Advice.line`${FileFailure.run("read", named)} reads it.`]
    return yield* FileFailure.make("read", error.path, error.reason, { advice, cause: error })
  }
  let directory = FileFailure.parentOf(error.path)
  while (directory !== "." && directory !== "/" && !(yield* exists(files, directory)))
    directory = FileFailure.parentOf(directory)
  return yield* FileFailure.fromFileError("read", error, directory)
})

/** Matches a file that is given as the parameter of a tool. */
const parameter = /^(?:file_?path|filename|file|path)=(.+)$/i

/** Makes the error of an offset that is counted from the end. */
export const ofNegative = (
  grammar: Pick<Described, "name" | "usage">,
  offset: number,
  files: ReadonlyArray<string>
): InvalidUsage =>
  CommandGrammar.misuse(grammar, `--offset counts from the beginning; for the last ${-offset}:`, [
    [`tail -n ${-offset} ${files.map(FileFailure.toWord).join(" ")}`]
  ])

const exists = (files: Files, path: string): Effect.Effect<boolean> => Effect.isSuccess(files.mode(path))
