/** Commands that a program defines with promises. */
import * as Predicate from "effect/Predicate"
import * as Fields from "./Fields.js"

/**
 * Thrown, or the reason of a rejected promise, where the program called Synapse wrongly. The message tells what is
 * wrong. A command of the program's own throws it where it was called wrongly itself.
 */
export class InvalidUsage extends Error {
  override readonly name = "InvalidUsage"
  readonly category = "invalid_usage"
}

/** A command that works anywhere in a shell line: in pipes, loops, substitutions and scripts. */
export interface Command {
  /** One word, which neither a command of Synapse nor a reserved word or a builtin of bash has as its name. */
  readonly name: string
  /** The purpose in one line: the model reads it in the tool's description. */
  readonly summary: string
  /** The usage line: `weather <city> [--days N]`. `--help` prints it after the summary. */
  readonly usage: string
  /**
   * Runs the command. A string is its standard output, with exit code 0. An error that it throws becomes its standard
   * error, with exit code 1; InvalidUsage tells that the call was wrong, and is told with the usage.
   */
  readonly run: (call: CommandCall) => Answer | Promise<Answer>
}

/** The result of a command; missing fields mean success without output. */
export type Answer =
  | string
  // biome-ignore lint/suspicious/noConfusingVoidType: what a function returns that returns nothing.
  | void
  | {
      readonly stdout?: string | undefined
      readonly stderr?: string | undefined
      readonly exitCode?: number | undefined
    }

/** One call of a command. */
export interface CommandCall {
  /** The words after the name, as bash passes them: without quotes, expanded. */
  readonly args: ReadonlyArray<string>
  /** The directory that it was called in. */
  readonly cwd: string
  /** Its standard input, empty where it has none: the bytes as they come, or all of them with `text()`. */
  readonly stdin: AsyncIterable<Uint8Array> & { readonly text: () => Promise<string> }
  /**
   * Writes to standard output at once, for what is too long to hold; the output that `run` returns comes after it.
   * Resolves when it is taken.
   */
  readonly write: (chunk: string | Uint8Array) => Promise<void>
  /** An AbortSignal that aborts when the call is ended before the command is done. */
  readonly signal: CommandSignal
}

/**
 * The AbortSignal of a call, which may be passed on to `fetch` and the like; `never` where the program's types have no
 * AbortSignal.
 */
export type CommandSignal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer A } }
  ? A
  : never

/** Returns what is wrong with a command; undefined where it is valid. */
export const problemOf = (command: unknown): string | undefined => {
  const problem = Fields.problemOf("field", command, Fields.command)
  return problem === undefined || !Predicate.hasProperty(command, "name")
    ? problem
    : `the command ${JSON.stringify(command.name)}: ${problem}`
}

/**
 * Defines a command, for the setting `commands` and for `addCommand`. Throws InvalidUsage where a field is missing or
 * wrong.
 *
 * @example
 * ```ts
 * import { defineCommand } from "synapse-shell/promise"
 *
 * const greet = defineCommand({
 *   name: "greet",
 *   summary: "Greets someone.",
 *   usage: "greet <name>",
 *   run: ({ args: [name = "you"] }) => `Hello, ${name}!\n`
 * })
 * ```
 */
export const defineCommand = (command: Command): Command => {
  const problem = problemOf(command)
  if (problem !== undefined) throw new InvalidUsage(problem)
  return command
}
