/** Commands that a program defines with promises. */
import * as Predicate from "effect/Predicate"
import * as Fields from "./Fields.js"

/**
 * Thrown, or rejects a promise, if the program called Synapse wrongly. The message says what is wrong. A program's own
 * command throws it when it was called wrongly.
 */
export class InvalidUsage extends Error {
  override readonly name = "InvalidUsage"
  readonly category = "invalid_usage"
}

/** A command that works anywhere in a shell line: in pipes, loops, substitutions and scripts. */
export interface Command {
  /** The name: one word that is not a Synapse command, a bash builtin or a reserved word. */
  readonly name: string
  /** The purpose in one line, which the model reads in the tool's description. */
  readonly summary: string
  /** The usage line: `weather <city> [--days N]`. `--help` prints it after the summary. */
  readonly usage: string
  /**
   * Runs the command. A returned string is its standard output, with exit code 0. A thrown error becomes its standard
   * error, with exit code 1. InvalidUsage means that the call was wrong, and is shown with the usage.
   */
  readonly run: (call: CommandCall) => Answer | Promise<Answer>
}

/** The result of a command. Missing fields mean success without output. */
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
  /** The words after the name, after bash's expansion and without quotes. */
  readonly args: ReadonlyArray<string>
  /** The directory that it was called in. */
  readonly cwd: string
  /** Its standard input, possibly empty: the bytes as they come, or all of them with `text()`. */
  readonly stdin: AsyncIterable<Uint8Array> & { readonly text: () => Promise<string> }
  /**
   * Writes to standard output at once, for output that is too long to hold. The output returned by `run` follows.
   * Resolves when the chunk is taken.
   */
  readonly write: (chunk: string | Uint8Array) => Promise<void>
  /** An AbortSignal that aborts if the call ends before the command is done. */
  readonly signal: CommandSignal
}

/**
 * The AbortSignal of a call, for `fetch` and similar functions. It is `never` if the program's types have no
 * AbortSignal.
 */
export type CommandSignal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer A } }
  ? A
  : never

/** Explains what is wrong with a command, or returns undefined. */
export const problemOf = (command: unknown): string | undefined => {
  const problem = Fields.problemOf("field", command, Fields.command)
  return problem === undefined || !Predicate.hasProperty(command, "name")
    ? problem
    : `the command ${JSON.stringify(command.name)}: ${problem}`
}

/**
 * Defines a command, for the setting `commands` and for `addCommand`. Throws InvalidUsage if a field is missing or
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
