/**
 * Tells what exit code 1 of a program means that did not go wrong.
 *
 * @since 0.1.0
 */
import type { CommandLine } from "../bash/CommandLine.js"
import * as Hint from "../command/Hint.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Culprit from "./Culprit.js"

const meanings: Readonly<Record<string, string>> = {
  "[": "false",
  cmp: "they differ",
  diff: "they differ",
  egrep: "no match",
  fgrep: "no match",
  grep: "no match",
  pgrep: "no such process",
  rg: "no match",
  test: "false",
  which: "not found"
}

/**
 * Tests whether exit code 1 of a program can be an answer, and no failure.
 *
 * @since 0.1.0
 */
export const answers = (program: string): boolean => program.replace(/^.*\//, "") in meanings

/**
 * Returns the meaning; undefined where it is not sure that this program decided the exit code.
 *
 * @since 0.1.0
 */
export const of = (line: CommandLine, result: CommandResult): string | undefined => {
  const { exitCode, stderr } = result
  if (exitCode === 1 && line.simple && line.name === "top" && stderr.startsWith("top: failed tty get")) {
    return "there is no terminal: top -bn1"
  }
  const [name, ...others] = Hint.candidates(line)
  if (name === undefined || others.length > 0) return undefined
  if (exitCode === 123 && name === "xargs") return "a command that xargs ran failed"
  return exitCode === 1 && stderr === "" && name === "read" ? ofRead(line) : answerOf(line, result)
}

/** Returns the answer that exit code 1 gives; undefined where it may be a failure. */
const answerOf = (line: CommandLine, { exitCode, stderr }: CommandResult): string | undefined => {
  if (exitCode !== 1 || stderr !== "") return undefined
  const [name, ...others] = Hint.candidates(line)
  if (name === undefined || others.length > 0) return undefined
  const meaning = meanings[name.replace(/^\/(?:usr\/)?bin\//, "")] ?? meaningOfOptions(line, name)
  // With `pipefail`, the exit code can come from before the pipe.
  return Culprit.isPiped(line) ? undefined : meaning
}

/** Tells that nobody answers, where bash's own `read` was given nothing to read. */
const ofRead = (line: CommandLine): string | undefined => {
  const isOwn = line.name === "read" && line.words[0]?.value.startsWith("-") === true
  const isFed = line.tokens.some(
    ({ _tag, start, end }) => _tag === "Operator" && /[<|]/.test(line.text.slice(start, end).replace("||", ""))
  )
  return isOwn && !isFed ? "nobody can be asked: read name <<< 'answer'" : undefined
}

const meaningOfOptions = (line: CommandLine, name: string): string | undefined => {
  if (!line.simple) return undefined
  const words = line.words.map(({ value }) => value)
  if (name === "command") return words[0] === "-v" || words[0] === "-V" ? "not found" : undefined
  if (name !== "git" || line.name !== "git") return undefined
  if (words[0] === "grep") return "no match"
  const compares = words.some((word) => word === "--exit-code" || word === "--quiet" || word === "--no-index")
  return words[0] === "diff" && compares ? "they differ" : undefined
}
