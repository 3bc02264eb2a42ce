/**
 * The interface of the commands that Synapse runs itself.
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
   * The command's name (`TodoWrite`), or a prefix that ends in `:*` and stands for all names under it (`mcp:*`). It is
   * one word of letters, digits and `_ . : + @ -`, and neither a reserved word nor a builtin of bash.
   */
  readonly name: string
  /** The purpose in one line, which the list of commands shows to the model and to people. */
  readonly summary: string
  /** The usage line: `read <file> [--offset N]`. */
  readonly usage: string
  /** True where no list and no description names it; it can be called all the same. */
  readonly isUnlisted?: boolean
  /**
   * Returns the commands under the prefix (`mcp:*`) that are known without starting anything, for who looks for one and
   * for programs that call one (`env`, `find -exec`); the same array until they change. It answers at once. A name with a
   * space is a call with an argument (`skill:load pdf`), for who looks for one only.
   */
  readonly known?: () => ReadonlyArray<Described>
  /**
   * Completes what `known` returns: asks those of whom nothing is known yet. Returns a line about each that could not be
   * asked (`server gh: …`). It takes no time where there is nobody to ask; whoever runs it bounds its time.
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
  /** The name that it was called by. */
  readonly name: string
  /** The words after the name, as bash passes them: without quotes, expanded. */
  readonly args: ReadonlyArray<string>
  /** The directory that it was called in. */
  readonly cwd: string
  /** Its standard input; undefined where it has none. */
  readonly stdin: Stream.Stream<Uint8Array, ExecutionFailed> | undefined
  /**
   * Writes to standard output at once, for what is too long to hold; the output of the result comes after it. It waits
   * while nobody reads, and interrupts the call where nobody ever will.
   */
  readonly write: (chunk: Uint8Array) => Effect.Effect<void>
  /**
   * The most characters of standard output that its reader is shown; undefined where all of it goes on, into a pipe or a
   * file.
   */
  readonly room?: number
  readonly files: Files
  /**
   * Keeps a file for as long as the session lasts, `<prefix><number>.<ending>`, among its files of output, of which the
   * oldest go first; returns its path, by which commands read it. Undefined where a session keeps none.
   */
  readonly keep?: (prefix: string, ending: string, content: Uint8Array) => Effect.Effect<string, FileError>
  /**
   * Has the shell call a command of ours, by its name and words, for a result that needs the shell: files to write, or
   * more output than fits. What it returns is the result of this call. Undefined where the shell has made this call.
   */
  readonly byShell?: (words: ReadonlyArray<string>) => Effect.Effect<CommandResult, CommandError>
}

/**
 * A program that a call runs as: in the caller's own process, so that it has the caller's rights, directory,
 * environment, streams and signals, and the caller has its exit code.
 *
 * @since 0.1.0
 * @category models
 */
export interface Program {
  /** The paths or names that it may have, of which the first that is there counts; a name is looked up in the PATH. */
  readonly names: ReadonlyArray<string>
  /** Its words, passed as they are. */
  readonly args: ReadonlyArray<string>
  /** The file that it is an interpreter of, for who is told that the interpreter is missing. */
  readonly file?: string
}

/**
 * A command of ours, which can be called wherever a command can stand in a line.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandHandler extends Described {
  /**
   * True where it works on the shell's files, so that the shell itself makes every call of it. Calls of other commands
   * are made without the shell where their words need no shell to be parsed.
   */
  readonly usesFiles?: boolean
  /**
   * Tests whether the text after its name is taken as it is written, as its only argument: JSON that nobody has quoted.
   * A command with this test also gets a text whose quotes do not match as it is written.
   */
  readonly takesBare?: (rest: string) => boolean
  /**
   * Returns the program that a call runs as; undefined where `run` answers it. Only the shell runs programs: a call that
   * needs no shell otherwise is made by the shell as well where it is a program.
   */
  readonly program?: (
    call: Pick<CommandCall, "name" | "args" | "cwd">
  ) => Effect.Effect<Program | undefined, CommandError>
  /** True where `run` answers `--help` itself; `CommandRegistry.layerAdd` does so for others, with summary and usage. */
  readonly hasHelp?: boolean
  /**
   * Runs the command. A wrong call fails with InvalidUsage, which holds the usage. Within a longer line, the shell gets
   * an error as text on standard error, and as the exit code.
   */
  readonly run: (call: CommandCall, options: RunOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * A word before a line that changes how the line is run (`bash <command>`). It is recognised at the beginning of a line
 * only.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineHandler extends Described {
  /**
   * Runs the line. The session itself tells the CommandListener the output of the commands that it runs; output that
   * this writes without the session, it has to tell the CommandListener.
   */
  readonly runLine: (line: CommandLine, options: LineOptions) => Effect.Effect<CommandResult, CommandError>
}

/**
 * The options of a command's run.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions {
  /** The time that it may take, in milliseconds; undefined for the default. */
  readonly timeout?: number | undefined
}

/**
 * The options of a line's run.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineOptions extends RunOptions {
  /** True to restart the shell first. */
  readonly restart?: boolean | undefined
  /** Milliseconds after which a program at the line's end goes on as a job, and the result is given. */
  readonly yield?: number | undefined
}

/**
 * A command of ours of either kind.
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
