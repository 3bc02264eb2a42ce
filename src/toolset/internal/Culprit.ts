/**
 * Finds the one command that a line failed for, from the line and from what was printed. It names none that may not have
 * failed.
 */
import * as CommandLine from "../../bash/CommandLine.js"
import { isRedirection } from "../../bash/Token.js"
import * as Hint from "../../command/Hint.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"

/** Builtins that never fail without a message of bash's own. */
const outspoken = new Set([".", "cd", "export", "popd", "pushd", "source", "unset"])
/** Programs that run others, whose status is then that of another program. */
const passing = new Set([".", "bash", "coproc", "dash", "eval", "ksh", "sh", "source", "ssh", "xargs", "zsh"])

/** Matches what bash itself says, by whom or what it speaks of. */
const complaint = /^bash: (?:line \d+: )?(.*?): /gm

/** Matches a command after `bash` that the session runs itself. */
const plainName = /^[\w.+-]+$/

/** Returns the line that was run for a command text: behind the word `bash`, where it only stands before a command. */
export const lineOf = (text: string): CommandLine.CommandLine => {
  const line = CommandLine.parse(text)
  const first = line.name === "bash" ? line.tail[0] : undefined
  const isCommand =
    first?._tag === "Word" && !first.quoted && plainName.test(first.value) && !/^[-+]|\.(?:sh|bash)$/.test(first.value)
  return isCommand ? CommandLine.parse(line.rest) : line
}

/** Returns the name of the command that failed; undefined where it is not known for sure, or did not even begin. */
export const find = (
  line: CommandLine.CommandLine,
  { exitCode, left, notFound, stderr }: CommandResult
): string | undefined => {
  if (exitCode === ExitCode.notFound) {
    const name = notFound ?? Hint.missing(line, left)
    return name === undefined || passing.has(name) ? undefined : name
  }
  // The codes from 124 to 126 are those of `timeout` and of what bash could not execute; above 128, a signal's.
  if (exitCode >= ExitCode.timeout && exitCode < 255) return undefined
  const names = Hint.candidates(line, left)
  const said = Array.from(stderr.matchAll(complaint), ([, name]) => name).at(-1)
  const [name, ...others] = said === undefined ? silent(line, names) : names.filter((name) => name === said)
  if (name === undefined || others.length > 0 || passing.has(name)) return undefined
  return isPiped(line) && !speaks(stderr, name) ? undefined : name
}

/** Returns the commands that can have failed without a word of bash's. */
export const silent = (line: CommandLine.CommandLine, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  line.tokens.some((token) => token._tag === "Operator" && isRedirection(token.value) && /^(?:2|&)/.test(token.value))
    ? names
    : names.filter((name) => !outspoken.has(name))

/** Tests for a pipe, in which any command can have failed where `pipefail` is set. */
export const isPiped = (line: CommandLine.CommandLine): boolean =>
  line.tokens.some((token) => token._tag === "Operator" && (token.value === "|" || token.value === "|&"))

/**
 * Tests whether an exit code is that of the last part of a pipeline, where there is one: with `pipefail`, it can be another's.
 */
export const isLasts = ({ exitCode, pipeline }: CommandResult): boolean =>
  pipeline === undefined || pipeline.at(-1) === exitCode

const speaks = (stderr: string, name: string): boolean =>
  stderr.split("\n").some((line) => line.startsWith(`${name}: `) || line.startsWith(`${name.split("/").at(-1)}: `))
