/**
 * What a command of ours is: an agent-shell command or an extension command.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { CommandLine } from "../bash/CommandLine.js"
import type { CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { Files } from "../files/Files.js"

/**
 * What every command says of itself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Described {
  /** The command's name (`TodoWrite`), or a prefix that ends in `*` and stands for all names under it (`mcp:*`). */
  readonly name: string
  /** What it does, in one line: the list of commands shows it to the model and to people. */
  readonly summary: string
  /** The usage line: `read <file> [--offset N]`. */
  readonly usage: string
}

/**
 * One call of a command, wherever in a shell line it stands.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandCall {
  /** The name it was called by. */
  readonly name: string
  /** The words after the name, as bash passes them: without quotes, expanded. */
  readonly args: ReadonlyArray<string>
  /** The directory that it was called in. */
  readonly cwd: string
  /** Its standard input; undefined where nobody gives it any. */
  readonly stdin: Stream.Stream<Uint8Array, ExecutionFailed> | undefined
  /**
   * Puts out at once what is too much to hold; what the result holds comes after it. It waits while nobody reads, and
   * interrupts the call where nobody will.
   */
  readonly write: (chunk: Uint8Array) => Effect.Effect<void>
  readonly files: Files
}

/**
 * A command of ours, which is called wherever a command can stand in a line.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandHandler extends Described {
  /**
   * Whether it works on the shell's files, so that every call of it is made by the shell itself. The calls of others whose
   * words need no shell to be read are made without one.
   */
  readonly usesFiles?: boolean
  /**
   * Whether what stands after its name on a line is taken as it is written, for its only argument: JSON that nobody has
   * quoted.
   */
  readonly takesBare?: (rest: string) => boolean
  /**
   * Runs it. A misuse fails with InvalidUsage that holds the usage. Within a longer line, the shell gets an error as its text on
   * standard error, and as its exit code.
   */
  readonly run: (call: CommandCall, options: RunOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * A word before a line that changes how the line is run (`bash <command>`). It stands at the front of a line, and nowhere else.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineHandler extends Described {
  /** Runs the line; what it runs in the session reaches the CommandListener, and what it puts out itself it tells it. */
  readonly runLine: (line: CommandLine, options: LineOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * How a command is run.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions {
  /** Milliseconds; undefined for the default. */
  readonly timeout?: number | undefined
}

/**
 * How a line is run.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineOptions extends RunOptions {
  /** Whether the shell is restarted first. */
  readonly restart?: boolean | undefined
}

/**
 * A command of ours of either kind.
 *
 * @since 0.1.0
 * @category models
 */
export type Handler = CommandHandler | LineHandler

/**
 * Tells whether a handler runs whole lines (`bash <command>`).
 *
 * @since 0.1.0
 * @category guards
 */
export const isLineHandler = (handler: Handler): handler is LineHandler => "runLine" in handler
