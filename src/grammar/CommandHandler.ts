/**
 * What a command of ours is: an agent-shell command or an extension command.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { CommandError } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { CommandLine } from "./CommandLine.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface CommandHandler {
  /** The command's name (`TodoWrite`), or a prefix that ends in `*` and stands for all names under it (`mcp:*`). */
  readonly name: string
  /** What it does, in one line: the list of commands shows it to the model and to people. */
  readonly summary: string
  /** The usage line: `bash <command>`. */
  readonly usage: string
  /** Whether it takes lines of several commands as well (`bash a | b`), and not only a line that is all its own. */
  readonly takesCompound?: boolean
  /**
   * Whether its output reaches the CommandListener as it comes: what it runs in the session does so by itself, the rest
   * it gives to `CommandListener.tell`. The output of any other handler is given to the listener when it has ended.
   */
  readonly streams?: boolean
  /** Runs it. A misuse fails with InvalidUsage that holds the usage. */
  readonly run: (line: CommandLine, options: RunOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RunOptions {
  /** Milliseconds; undefined for the default. */
  readonly timeout?: number | undefined
  /** Whether the shell is restarted first: only for a handler that `streams`, which passes it on to the shell. */
  readonly restart?: boolean | undefined
}
