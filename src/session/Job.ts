/**
 * A command that waits or runs, and how it is answered.
 *
 * @since 0.1.0
 */
import { ExecutionFailed, type InvalidUsage, timedOut } from "../domain/CommandError.js"
import type { CommandInput } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { CommandRun, Outcome } from "./CommandRun.js"
import type { CallEnding } from "./ShellBridge.js"

/**
 * Exactly one of its functions is called, once.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job {
  readonly text: string
  /** Milliseconds. */
  readonly timeout: number
  readonly listener: CommandListener
  readonly input: CommandInput | undefined
  readonly succeed: (result: CommandResult.CommandResult) => void
  readonly fail: (error: ExecutionFailed | InvalidUsage) => void
  /** Set when it is cancelled: called, with the result so far, in place of the others. */
  cancelled?: (result: CommandResult.CommandResult) => void
  run?: CommandRun
  /** Whether a shell died before it came to this command: that is not tried more than once. */
  retried?: boolean
}

/**
 * Answers a command that did not come to run, unless nobody wants it any more.
 *
 * @since 0.1.0
 * @category combinators
 */
export const refuse = (job: Job, error: ExecutionFailed): void =>
  job.cancelled === undefined ? job.fail(error) : job.cancelled(CommandResult.make({ exitCode: ExitCode.interrupted }))

/**
 * Answers a command that ran.
 *
 * @since 0.1.0
 * @category combinators
 */
export const answer = (
  job: Job,
  { status, stderr, stdout, stopped }: Outcome,
  notices: ReadonlyArray<string>,
  notFound: string | undefined,
  called: CallEnding | undefined
): void => {
  const result: CommandResult.CommandResult = {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: job.cancelled === undefined ? status : ExitCode.interrupted,
    ...(notFound === undefined ? {} : { notFound }),
    ...(status === ExitCode.success || called?.exitCode !== status ? {} : { category: called.category }),
    ...(stdout.file === undefined ? {} : { stdoutFile: stdout.file }),
    ...(stderr.file === undefined ? {} : { stderrFile: stderr.file }),
    ...(notices.length === 0 ? {} : { notices })
  }
  if (job.cancelled !== undefined) return job.cancelled(result)
  if (stopped === undefined) return job.succeed(result)
  const output = { stdout: result.stdout, stderr: result.stderr, notices }
  job.fail(
    stopped === "timeout"
      ? timedOut(job.timeout, output)
      : new ExecutionFailed({
          cause: "shell",
          reason: "the session was restarted or ended while the command ran",
          ...output
        })
  )
}
