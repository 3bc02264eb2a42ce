/** A waiting or running command, and how its result is made. */

import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import type { CommandLine } from "../bash/CommandLine.js"
import { ExecutionFailed, timedOut } from "../domain/CommandError.js"
import type { CommandInput, Read } from "../domain/CommandInput.js"
import type { CommandListener } from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { Outcome } from "./internal/CommandRun.js"
import type { CallEnding } from "./ShellBridge.js"
import type { Use } from "./ShellTerminal.js"

export interface Observer {
  /** Called when a command starts, or starts waiting for its turn. */
  readonly onBegin: (queued: QueuedCommand) => void
  /** Called before the caller and the next command learn of the end. `result` is undefined for a stopped command. */
  readonly onEnd: (queued: QueuedCommand, result: CommandResult.CommandResult | undefined) => void
}

/** A command with the options of its call. */
export interface QueuedCommand {
  readonly line: CommandLine
  /** The time limit in milliseconds. */
  readonly timeout: number
  readonly listener: CommandListener
  /** The input of Synapse commands called within the shell without a standard input of their own. */
  readonly input: CommandInput | undefined
  /** The command's own standard input; empty if undefined. */
  readonly stdin?: Read | undefined
  /** How the command uses the session's terminal; undefined if it does not. */
  readonly terminal?: Use | undefined
  readonly observer?: Observer | undefined
  /** Milliseconds after which a program that still runs becomes a job. If undefined, the caller waits for it. */
  readonly yield?: number | undefined
  /** Pauses the time limit and returns a function that resumes it. Set once the command has begun. */
  hold?: () => () => void
  /** True from entering the queue until the end. */
  isOpen?: boolean
  result?: CommandResult.CommandResult
  /** True once the listener was told of the interruption. */
  isTold?: boolean
}

/** Facts about a finished command that its outcome does not hold. */
interface Findings {
  readonly notices: ReadonlyArray<string>
  /** The last command that bash did not find. */
  readonly missing: string | undefined
  /** The exit codes of the last pipeline's parts; empty without a pipeline. */
  readonly pipeline: ReadonlyArray<number>
  /** The shell's new directory, if the command changed it. */
  readonly movedTo: string | undefined
  /** True if the command ended the shell. */
  readonly left: boolean
  /** The exit code and the category of the line's last Synapse command; undefined if it called none. */
  readonly called: CallEnding | undefined
  readonly images: ReadonlyArray<CommandResult.Image>
}

type Made = { -readonly [Field in keyof CommandResult.CommandResult]: CommandResult.CommandResult[Field] }

const isFailure = (code: number): boolean => code !== ExitCode.success && code !== ExitCode.brokenPipe

export const result = (
  { limit, notice, order, status, stderr, stdout }: Outcome,
  { called, images, left, missing, movedTo, notices, pipeline }: Findings
): CommandResult.CommandResult => {
  // Assigned field by field: every command makes a result, and spreading objects is ten times slower.
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
  const told = notice === undefined ? notices : [...notices, notice]
  if (told.length > 0) made.diagnostics = told.map((text) => Diagnostic.notice(text))
  return made
}

/** Returns the result, or fails if a timeout or a restart stopped the command. */
export const answer = (
  queued: QueuedCommand,
  stopped: Outcome["stopped"],
  result: CommandResult.CommandResult
): Effect.Effect<CommandResult.CommandResult, ExecutionFailed> => {
  if (stopped === undefined) return Effect.succeed(result)
  const output = {
    ...Struct.pick(result, "stdout", "stderr", "diagnostics", "stdoutFile", "stderrFile", "kept", "order")
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

/** Tells the observer that the command has started or waits for its turn. */
export const open = (queued: QueuedCommand): void => {
  if (queued.isOpen === true) return
  queued.isOpen = true
  queued.observer?.onBegin(queued)
}

/** Tells the observer that the command is over, if the observer knows of it. */
export const close = (queued: QueuedCommand, result?: CommandResult.CommandResult): void => {
  if (queued.isOpen !== true) return
  queued.isOpen = false
  queued.observer?.onEnd(queued, result)
}

/** The error for a command that had not begun when the session was restarted. */
export const restarted = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "shell",
    reason: "The session was restarted or ended before the command ran. Run it again."
  })

/** Tells the listener once that the command was interrupted, with its output so far or that it had not begun. */
export const tellInterrupted = (queued: Pick<QueuedCommand, "listener" | "isTold" | "result">): void => {
  if (queued.isTold === true) return
  queued.isTold = true
  const { result = CommandResult.make({ began: false }) } = queued
  queued.listener.onInterrupted?.({ ...result, exitCode: ExitCode.interrupted })
}
