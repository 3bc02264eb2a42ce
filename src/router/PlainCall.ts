/**
 * Recognises a call that needs no shell: one command with nothing in it that bash would have to expand or to carry out.
 *
 * @since 0.1.0
 */
import * as Stream from "effect/Stream"
import type { CommandLine } from "../bash/CommandLine.js"
import type { CommandCall, CommandHandler } from "../command/CommandHandler.js"
import { FileError, type Files } from "../files/Files.js"

/**
 * A call that needs no shell: the command's name and its words.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlainCall {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** The text of a here-document or a here-string. */
  readonly input?: string
}

/**
 * Returns the call that a line makes; undefined where it needs a shell. A command that is not registered gets its name
 * only, for the error.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (line: CommandLine, handler: CommandHandler | undefined): PlainCall | undefined => {
  const { name } = line
  if (handler === undefined) return line.simple ? { name, args: [] } : undefined
  if (handler.usesFiles === true || line.assignments.length > 0) return undefined
  if (handler.takesBare?.(line.rest) === true || (handler.takesBare !== undefined && isUnclosed(line)))
    return { name, args: [line.rest.trim()] }
  if (!line.literal) return undefined
  const args = line.words.map(({ value }) => value)
  const { input } = line
  return input === undefined ? { name, args } : { name, args, input }
}

/** The most characters of a line whose quotes are told for sure; the parser leaves longer ones to bash. */
const longestTold = 100_000

/**
 * Tests whether a quote is not closed, so that no shell can run the line: the handler can say more of it. Only where the
 * line begins with a quote and holds no substitution, which the parser may have left to bash.
 */
const isUnclosed = (line: CommandLine): boolean =>
  line.text.length < longestTold &&
  line.rest.startsWith("'") &&
  !/`|\$\(/.test(line.rest) &&
  line.tail.some((token) => token._tag === "Word" && !token.closed)

/**
 * Makes the CommandCall for the handler. It has no files, which only the shell can give.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toCommandCall = (
  { args, input, name }: PlainCall,
  cwd: string,
  write: CommandCall["write"],
  byShell: NonNullable<CommandCall["byShell"]>
): CommandCall => ({
  name,
  args,
  cwd,
  stdin: input === undefined ? undefined : Stream.succeed(new TextEncoder().encode(input)),
  write,
  files,
  byShell
})

const refuse = (path: string) =>
  new FileError({ path, kind: "io", reason: "no shell made this call: a handler that works on files says usesFiles" })

const files: Files = {
  read: refuse,
  write: refuse,
  writeAll: ([change]) => refuse(change?.path ?? ""),
  exit: refuse,
  mode: refuse,
  exclusive: (paths) => refuse([paths].flat()[0] ?? "")
}
