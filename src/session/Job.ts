/**
 * A command that waits or runs, and how it is answered.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { ExecutionFailed, timedOut } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { Outcome } from "./CommandRun.js"
import type { CallEnding } from "./ShellBridge.js"

/**
 * A command, with all that its call says of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job {
  readonly text: string
  /** Milliseconds. */
  readonly timeout: number
  readonly listener: CommandListener
  /** What calls from within the shell read that have no standard input of their own. */
  readonly input: CommandInput | undefined
  /** Whether its listener was told of the interruption. */
  isTold?: boolean
}

/**
 * What there is to say of a command that ran, besides its outcome.
 *
 * @since 0.1.0
 * @category models
 */
export interface Findings {
  readonly notices: ReadonlyArray<string>
  /** The command that bash did not find last. */
  readonly missing: string | undefined
  /** How the one call of a command of ours ended. */
  readonly called: CallEnding | undefined
}

/**
 * Makes the result of a command that ran.
 *
 * @since 0.1.0
 * @category combinators
 */
export const result = (
  { status, stderr, stdout }: Outcome,
  { called, missing, notices }: Findings
): CommandResult.CommandResult => ({
  stdout: stdout.text,
  stderr: stderr.text,
  exitCode: status,
  ...(missing === undefined || status !== ExitCode.notFound ? {} : { notFound: missing }),
  ...(status === ExitCode.success || called?.exitCode !== status ? {} : { category: called.category }),
  ...(stdout.file === undefined ? {} : { stdoutFile: stdout.file }),
  ...(stderr.file === undefined ? {} : { stderrFile: stderr.file }),
  ...(notices.length === 0 ? {} : { notices })
})

/**
 * Answers with a result, or fails where the command was stopped by other than its caller.
 *
 * @since 0.1.0
 * @category combinators
 */
export const answer = (
  job: Job,
  stopped: Outcome["stopped"],
  result: CommandResult.CommandResult
): Effect.Effect<CommandResult.CommandResult, ExecutionFailed> => {
  if (stopped === undefined) return Effect.succeed(result)
  const output = { stdout: result.stdout, stderr: result.stderr, notices: result.notices ?? [] }
  return Effect.fail(
    stopped === "timeout"
      ? timedOut(job.timeout, output)
      : new ExecutionFailed({
          kind: "shell",
          reason: "the session was restarted or ended while the command ran",
          ...output
        })
  )
}

/**
 * Tells the listener, once, that the command was interrupted, and what it had put out by then.
 *
 * @since 0.1.0
 * @category combinators
 */
export const tellInterrupted = (job: Job, result: CommandResult.CommandResult = CommandResult.make()): void => {
  if (job.isTold === true) return
  job.isTold = true
  job.listener.onInterrupted?.({ ...result, exitCode: ExitCode.interrupted })
}
