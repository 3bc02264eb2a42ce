/**
 * A persistent shell.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ExecutionFailed, InvalidUsage } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface ExecuteOptions {
  /** Milliseconds; the setting's default where it is not given. */
  readonly timeout?: number | undefined
}

/**
 * One shell whose state (directory, variables, functions, options, aliases) lives from command to command.
 * One command runs at a time; others wait their turn in order.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashSession extends Context.Tag("synapse/BashSession")<BashSession, {
  /** The command line that starts the shell. */
  readonly shellCommand: string
  /**
   * Runs a command and answers when it ended, with all that it put out. Fails with ExecutionFailed when it timed out or
   * no shell could be started, with InvalidUsage for a text that no shell can take (a NUL byte). Interruption ends what
   * the command runs, and keeps the shell wherever it can be kept.
   */
  readonly execute: (
    command: string,
    options?: ExecuteOptions
  ) => Effect.Effect<CommandResult, ExecutionFailed | InvalidUsage>
  /** Ends the shell and everything that it started; the next command gets a new one, without any old state. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory, as of the last command that ended. */
  readonly cwd: Effect.Effect<string>
}>() {}
