/**
 * The three ways in which a command can end without a result, read from the Cause of its Exit. This module alone decides
 * the text, exit code and failure category of an error, an interruption and a defect.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Advice from "./Advice.js"
import * as CommandError from "./CommandError.js"
import type { CommandResult } from "./CommandResult.js"
import * as ExitCode from "./ExitCode.js"

/** Why a command has no result. `text` is a message about it, without a newline at its end. */
export type CommandExit = Data.TaggedEnum<{
  /** It did not run, or was stopped. */
  Failed: {
    readonly error: CommandError.CommandError
    readonly text: string
    readonly exitCode: number
    readonly category: CommandError.FailureCategory
  }
  /** It was cancelled. That is not a failure and has no category. */
  Interrupted: { readonly text: string; readonly exitCode: number }
  /** The code that ran it had a defect. */
  Died: { readonly text: string; readonly exitCode: number; readonly category: CommandError.FailureCategory }
}>

export const CommandExit = Data.taggedEnum<CommandExit>()

/**
 * Reads how a command ended without a result.
 *
 * @param subject the beginning of the text about a defect: `The tool Bash`
 * @param audience the reader of the text
 * @param partial what is known of an interrupted command
 */
export const fromCause = (
  cause: Cause.Cause<CommandError.CommandError>,
  subject: string,
  audience: Advice.Audience = Advice.model,
  partial: Pick<CommandResult, "began"> = {}
): CommandExit => {
  if (Cause.isInterruptedOnly(cause)) {
    const text =
      partial.began === false
        ? "Command cancelled before it began: it was not run."
        : "Command interrupted before it ended."
    return CommandExit.Interrupted({ text, exitCode: ExitCode.interrupted })
  }
  return Option.match(Cause.failureOption(cause), {
    onSome: (error) =>
      CommandExit.Failed({
        error,
        text: CommandError.toText(error, audience),
        exitCode: error.exitCode,
        category: error.category
      }),
    onNone: () =>
      CommandExit.Died({
        text: `${subject} failed unexpectedly: ${reasonOf(Cause.squash(cause))}`,
        exitCode: ExitCode.failure,
        category: "execution_error"
      })
  })
}

/** Logs a command's defect with its stack trace, for its developer. The result has the message only. */
export const logDefect = (name: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.logError(`the command ${name} failed unexpectedly`, cause)

const reasonOf = (defect: unknown): string =>
  defect instanceof Error && defect.message !== "" ? defect.message : String(defect)
