/**
 * A command of the program's own, written with promises.
 *
 * @since 0.1.0
 */
import * as Fields from "./Fields.js"
import { InvalidUsage } from "./InvalidUsage.js"

/**
 * A command that works anywhere in a shell line: in pipes, loops, substitutions and scripts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Command {
  /** One word, which no command of Synapse has. */
  readonly name: string
  /** What it does, in one line: the model reads it in the tool's description. */
  readonly summary: string
  /** The usage line: `weather <city> [--days N]`. It answers `--help`, with the summary. */
  readonly usage: string
  /**
   * Runs it. A text is its standard output, with exit code 0. What it throws is its standard error, with exit code 1.
   */
  readonly run: (call: CommandCall) => Answer | Promise<Answer>
}

/**
 * What a command answers; missing fields mean success without output.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer =
  | string
  // biome-ignore lint/suspicious/noConfusingVoidType: what a function returns that returns nothing.
  | void
  | {
      readonly stdout?: string | undefined
      readonly stderr?: string | undefined
      readonly exitCode?: number | undefined
    }

/**
 * One call of a command.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandCall {
  /** The words after the name, as bash passes them: without quotes, expanded. */
  readonly args: ReadonlyArray<string>
  /** The directory that it was called in. */
  readonly cwd: string
  /** Its standard input, empty where nobody gives it any: the bytes as they come, or all of them as `text()`. */
  readonly stdin: AsyncIterable<Uint8Array> & { readonly text: () => Promise<string> }
  /** Puts out at once what is too much to hold; what `run` answers comes after it. Settled when it is taken. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>
  /** An AbortSignal that aborts when the call is ended before the command is done. */
  readonly signal: CommandSignal
}

/**
 * What a command is told of its end: an AbortSignal, which may be handed on to `fetch` and the like.
 *
 * @since 0.1.0
 * @category models
 */
export type CommandSignal = typeof globalThis extends { readonly AbortSignal: { readonly prototype: infer A } }
  ? A
  : never

const fields: Fields.Fields = {
  name: Fields.field(
    "one word of letters, digits, - and _, such as weather",
    (value) => typeof value === "string" && /^[A-Za-z_][\w-]*$/.test(value)
  ),
  summary: Fields.text,
  usage: Fields.text,
  run: Fields.callback
}

/**
 * What is wrong with a command; undefined where nothing is.
 *
 * @since 0.1.0
 */
export const problemOf = (command: unknown): string | undefined =>
  Fields.problemOf("command", command, fields, ["name", "summary", "usage", "run"])

/**
 * Defines a command, for the setting `commands` and for `addCommand`. Throws InvalidUsage where something of it is missing or wrong.
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
 * @since 0.1.0
 * @category constructors
 */
export const defineCommand = (command: Command): Command => {
  const problem = problemOf(command)
  if (problem !== undefined) throw new InvalidUsage(problem)
  return command
}
