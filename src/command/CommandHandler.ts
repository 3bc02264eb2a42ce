/**
 * The interface of Synapse commands: agent-shell commands and extension commands.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { CommandLine } from "../bash/CommandLine.js"
import type { CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { FileError, Files } from "../files/Files.js"

/**
 * The name, the summary and the usage of a command.
 *
 * @since 0.1.0
 * @category models
 */
export interface Described {
  /**
   * The command's name (`TodoWrite`), or a prefix that ends in `:*` and stands for all names under it (`mcp:*`). A name
   * is one word of letters, digits and `_ . : + @ -`. Reserved words and builtins of bash are not allowed.
   */
  readonly name: string
  /** The purpose in one line, for lists of commands. */
  readonly summary: string
  /** The usage line: `read <file> [--offset N]`. */
  readonly usage: string
  /** True to keep the command out of lists and descriptions. It can still be called. */
  readonly isUnlisted?: boolean
  /**
   * Returns the known commands under the prefix (`mcp:*`), at once and without starting anything. It returns the same
   * array until they change. Searches and programs that call commands (`env`, `find -exec`) use it. A name with a space
   * is a call with an argument (`skill:load pdf`), for searches only.
   */
  readonly known?: () => ReadonlyArray<Described>
  /**
   * Completes `known` by asking servers that were not asked yet. Returns a line about each that could not be asked
   * (`server gh: …`). The caller limits its time.
   */
  readonly look?: Effect.Effect<ReadonlyArray<string>>
}

/**
 * One call of a command, wherever it stands in a shell line.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandCall {
  /** The name that the command was called by. */
  readonly name: string
  /** The words after the name, as bash passes them: unquoted and expanded. */
  readonly args: ReadonlyArray<string>
  /** The directory that the command was called in. */
  readonly cwd: string
  /** The standard input, if the call has one. */
  readonly stdin: Stream.Stream<Uint8Array, ExecutionFailed> | undefined
  /**
   * Writes to standard output at once, for output that is too long to hold. The result's output follows it. Waits while
   * nobody reads, and interrupts the call if its reader has gone.
   */
  readonly write: (chunk: Uint8Array) => Effect.Effect<void>
  /**
   * The most characters of standard output that the reader is shown. Undefined if all output goes into a pipe or a
   * file.
   */
  readonly room?: number
  readonly files: Files
  /**
   * Keeps a file, `<prefix><number>.<ending>`, among the session's output files, and returns its path for commands. The
   * oldest output files are deleted first. Undefined if the session keeps none.
   */
  readonly keep?: (prefix: string, ending: string, content: Uint8Array) => Effect.Effect<string, FileError>
  /**
   * Makes the shell call a Synapse command, by its name and words, and returns that result. Use it if the result needs
   * the shell: files to write, or more output than fits. Undefined if the shell made this call.
   */
  readonly byShell?: (words: ReadonlyArray<string>) => Effect.Effect<CommandResult, CommandError>
}

/**
 * A program that runs in place of a call, in the caller's own process: with its rights, directory, environment,
 * streams, signals and exit code.
 *
 * @since 0.1.0
 * @category models
 */
export interface Program {
  /** The program's possible paths or names. The first that exists is run; a name is looked up in the PATH. */
  readonly names: ReadonlyArray<string>
  /** The program's words, passed unchanged. */
  readonly args: ReadonlyArray<string>
  /** The file that the program interprets, for the message that the interpreter is missing. */
  readonly file?: string
}

/**
 * A command that Synapse runs itself, wherever a command can stand in a line.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandHandler extends Described {
  /**
   * True if the command works on the shell's files, so that the shell makes every call of it. Calls of other commands
   * bypass the shell if their words need no expansion.
   */
  readonly usesFiles?: boolean
  /**
   * Tests whether the text after the name is taken literally, as the only argument: unquoted JSON. A command with this
   * test also gets text with unbalanced quotes literally.
   */
  readonly takesBare?: (rest: string) => boolean
  /** Returns the program that the call runs as, or undefined if `run` answers it. The shell runs the program. */
  readonly program?: (
    call: Pick<CommandCall, "name" | "args" | "cwd">
  ) => Effect.Effect<Program | undefined, CommandError>
  /**
   * True if `run` answers `--help` itself. For other commands, `CommandRegistry.layerAdd` answers it with summary and
   * usage.
   */
  readonly hasHelp?: boolean
  /**
   * Runs the command. A wrong call fails with InvalidUsage, which holds the usage. Within a longer line, an error
   * becomes text on standard error and an exit code.
   */
  readonly run: (call: CommandCall, options: RunOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * A word before a line that changes how the line is run (`bash <command>`). It is recognised only at the beginning of a
 * line.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineHandler extends Described {
  /**
   * Runs the line. The session tells the CommandListener the output of the commands that it runs. Any other output must
   * be told by this function.
   */
  readonly runLine: (line: CommandLine, options: LineOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * The options of running a command.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions {
  /** The timeout in milliseconds. Undefined for the default. */
  readonly timeout?: number | undefined
}

/**
 * The options of running a line.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineOptions extends RunOptions {
  /** True to restart the shell first. */
  readonly restart?: boolean | undefined
  /**
   * The milliseconds after which a running program at the end of the line becomes a job, and the result is returned.
   */
  readonly yield?: number | undefined
}

/**
 * A Synapse command of either kind.
 *
 * @since 0.1.0
 * @category models
 */
export type Handler = CommandHandler | LineHandler

/**
 * Tests whether a handler runs whole lines (`bash <command>`).
 *
 * @since 0.1.0
 * @category guards
 */
export const isLineHandler = (handler: Handler): handler is LineHandler => "runLine" in handler
