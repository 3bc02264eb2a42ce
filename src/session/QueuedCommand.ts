/** A command that waits or runs, and the result that it gets. */

import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import type { CommandLine } from "../bash/CommandLine.js"
import { ExecutionFailed, timedOut } from "../domain/CommandError.js"
import type { CommandInput, Read } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { Outcome } from "./internal/CommandRun.js"
import type { CallEnding } from "./ShellBridge.js"
import type { Use } from "./ShellTerminal.js"

/** Hears of every command of a session. */
export interface Observer {
  /** Called when a command runs, or begins to wait for its turn. */
  readonly onBegin: (queued: QueuedCommand) => void
  /**
   * Called once it is over, however it ended, before its caller hears of it and before the next one begins; with the
   * result, where it ended by itself.
   */
  readonly onEnd: (queued: QueuedCommand, result: CommandResult.CommandResult | undefined) => void
}

/** A command, with the options of its call. */
export interface QueuedCommand {
  readonly text: string
  /** The command as it was parsed, where it was. */
  readonly line?: CommandLine | undefined
  /** The time that it may take, in milliseconds. */
  readonly timeout: number
  readonly listener: CommandListener
  /** The input of calls from within the shell that have no standard input of their own. */
  readonly input: CommandInput | undefined
  /** The standard input of the command itself; where undefined, it is empty. */
  readonly stdin?: Read | undefined
  /** The use that it makes of the session's terminal; undefined for none. */
  readonly terminal?: Use | undefined
  readonly observer?: Observer | undefined
  /** Milliseconds after which its last program goes on as a job; undefined where the caller waits for it. */
  readonly yield?: number | undefined
  /** Lets its time stand still, until the returned function is called; undefined where it has not begun. */
  hold?: () => () => void
  /** True from its place in the queue to its end. */
  isOpen?: boolean
  result?: CommandResult.CommandResult
  /** True once its listener was told of the interruption. */
  isTold?: boolean
}

/** The facts about a command that ran which its outcome does not hold. */
interface Findings {
  readonly notices: ReadonlyArray<string>
  /** The last command that bash did not find. */
  readonly missing: string | undefined
  /** The exit codes of the parts of the last pipeline that it ran, where it ran one. */
  readonly pipeline: ReadonlyArray<number>
  /** The shell's directory, where the command changed it. */
  readonly movedTo: string | undefined
  /** True where the command has ended the shell. */
  readonly left: boolean
  /** The end of the call, where the command has called exactly one of our commands. */
  readonly called: CallEnding | undefined
  /** The images that its calls of our commands have shown. */
  readonly images: ReadonlyArray<CommandResult.Image>
}

type Made = { -readonly [Field in keyof CommandResult.CommandResult]: CommandResult.CommandResult[Field] }

const isFailure = (code: number): boolean => code !== ExitCode.success && code !== ExitCode.brokenPipe

export const result = (
  { limit, notice, order, status, stderr, stdout }: Outcome,
  { called, images, left, missing, movedTo, notices, pipeline }: Findings
): CommandResult.CommandResult => {
  // Field by field, since every command makes one: to spread so many objects takes ten times as long.
  const made: Made = { stdout: stdout.text, stderr: stderr.text, exitCode: status }
  if (order !== undefined) made.order = order
  if (pipeline.slice(0, -1).some(isFailure)) made.pipeline = pipeline
  if (missing !== undefined && status === ExitCode.notFound) made.notFound = missing
  if (movedTo !== undefined) made.movedTo = movedTo
  if (left && status !== ExitCode.success) made.left = true
  if (status !== ExitCode.success && called?.exitCode === status) made.category = called.category
  if (stdout.file !== undefined) made.stdoutFile = stdout.file
  if (stderr.file !== undefined) made.stderrFile = stderr.file
  if (images.length > 0) made.images = images
  if (stdout.kept !== undefined || stderr.kept !== undefined) {
    made.kept = {
      limit,
      ...(stdout.kept === undefined ? {} : { stdout: stdout.kept }),
      ...(stderr.kept === undefined ? {} : { stderr: stderr.kept })
    }
  }
  if (notice !== undefined) made.notices = [...notices, notice]
  else if (notices.length > 0) made.notices = notices
  return made
}

/** Returns the result, or fails where the command was stopped by a timeout or a restart. */
export const answer = (
  queued: QueuedCommand,
  stopped: Outcome["stopped"],
  result: CommandResult.CommandResult
): Effect.Effect<CommandResult.CommandResult, ExecutionFailed> => {
  if (stopped === undefined) return Effect.succeed(result)
  const output = {
    notices: [],
    ...Struct.pick(result, "stdout", "stderr", "notices", "stdoutFile", "stderrFile", "kept", "order")
  }
  return Effect.fail(
    stopped === "timeout"
      ? timedOut(queued.timeout, output)
      : new ExecutionFailed({
          kind: "shell",
          reason: "The session was restarted or ended while the command ran",
          ...output
        })
  )
}

/** Tells the observer that the command runs, or waits for its turn. */
export const open = (queued: QueuedCommand): void => {
  if (queued.isOpen === true) return
  queued.isOpen = true
  queued.observer?.onBegin(queued)
}

/** Tells the observer that the command is over, where it heard of its begin. */
export const close = (queued: QueuedCommand, result?: CommandResult.CommandResult): void => {
  if (queued.isOpen !== true) return
  queued.isOpen = false
  queued.observer?.onEnd(queued, result)
}

/** The error for a command whose turn it was when the session was restarted, before it had begun. */
export const restarted = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "shell",
    reason: "The session was restarted or ended before the command ran. Run it again."
  })

/**
 * Tells the listener, once, that the command was interrupted, with the output until then; or that it did not begin, where
 * it has no result.
 */
export const tellInterrupted = (queued: Pick<QueuedCommand, "listener" | "isTold" | "result">): void => {
  if (queued.isTold === true) return
  queued.isTold = true
  const { result = CommandResult.make({ began: false }) } = queued
  queued.listener.onInterrupted?.({ ...result, exitCode: ExitCode.interrupted })
}
