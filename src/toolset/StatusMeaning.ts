/**
 * Tells what exit code 1 of a program means that did not go wrong.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
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
export const of = (line: CommandLine.CommandLine, result: CommandResult): string | undefined => {
  const { exitCode, stderr } = result
  if (exitCode === 1 && line.simple && line.name === "top" && stderr.startsWith("top: failed tty get")) {
    return "there is no terminal: top -bn1"
  }
  const name = deciderOf(line, result)
  if (name === undefined) return undefined
  if (exitCode === 123 && name === "xargs" && Culprit.isLasts(result)) return ofXargs(line, result)
  return exitCode === 1 && stderr === "" && name === "read" ? ofRead(line) : answerOf(line, result)
}

/** Returns the answer of what `xargs` ran, where that gave nothing at all. */
const ofXargs = (line: CommandLine.CommandLine, { stderr, stdout }: CommandResult): string | undefined => {
  const behind =
    /\bxargs((?:\s+-(?:[0rt]|[IdLnPs]\s*\S+))*)\s+(?:\S*\/)?([efz]?grep|rg)\s(?!.*(?:-L\b|without-match))/.exec(
      line.text
    )
  return behind !== null && stdout === "" && stderr === "" ? "no match" : "a command that xargs ran failed"
}

/** Returns the answer that exit code 1 gives; undefined where it may be a failure. */
const answerOf = (line: CommandLine.CommandLine, result: CommandResult): string | undefined => {
  const name = deciderOf(line, result)
  if (result.exitCode !== 1 || name === undefined || !Culprit.isLasts(result)) return undefined
  // What stands on standard error can be another's where it is known that this one's exit code was 1.
  if (result.stderr !== "" && result.pipeline === undefined) return undefined
  const program = name.replace(/^\/(?:usr\/)?bin\//, "")
  const unread = searching.has(program) && !Culprit.isPiped(line) ? ofNoFile(line, name) : "read"
  return unread === "read" ? (meanings[program] ?? meaningOfOptions(line, name)) : unread
}

/** Returns the one program that can have decided the exit code; a builtin that fails says so. */
const deciderOf = (line: CommandLine.CommandLine, { left, stderr }: CommandResult): string | undefined => {
  const names = Hint.candidates(line, left)
  const [name, ...others] = names.length > 1 && stderr === "" ? Culprit.silent(line, names) : names
  return others.length === 0 ? name : undefined
}

/** The programs that read standard input where no file is given to them. */
const searching = new Set(["egrep", "fgrep", "grep"])

/** Matches options of theirs that take no value, and need no file; any other leaves it open what is one. */
const plainOptions = /^-[EFGPchilnoqsvwx]+$/

/** Returns the text behind the last operator of a line. */
const lastPart = ({ text, tokens }: CommandLine.CommandLine): string => {
  const last = tokens.findLast(
    ({ _tag, end, start }) =>
      _tag === "Newline" || (_tag === "Operator" && /^(?:&&|\|\||;)$/.test(text.slice(start, end)))
  )
  return text.slice(last?.end ?? 0)
}

/**
 * Tells that nothing was searched, where no file was given; "read" where there was something to read.
 */
const ofNoFile = (line: CommandLine.CommandLine, name: string): string => {
  const part = line.simple ? line : CommandLine.parse(lastPart(line))
  if (part.input !== undefined) return "read"
  const words = part.words.map(({ value }) => value)
  const operands = words.filter((word) => !word.startsWith("-"))
  if (operands.length !== 1 || part.name !== name || !part.simple) return "read"
  if (!words.every((word) => word === operands[0] || plainOptions.test(word))) return "read"
  return `no file was given: ${name} -r ${part.rest.trim()} .`
}

/** Tells that nobody answers, where bash's own `read` was given nothing to read. */
const ofRead = (line: CommandLine.CommandLine): string | undefined => {
  const isOwn = line.name === "read" && line.words[0]?.value.startsWith("-") === true
  const isFed = line.tokens.some(
    ({ _tag, start, end }) => _tag === "Operator" && /[<|]/.test(line.text.slice(start, end).replace("||", ""))
  )
  return isOwn && !isFed ? "nobody can be asked: read name <<< 'answer'" : undefined
}

const meaningOfOptions = (line: CommandLine.CommandLine, name: string): string | undefined => {
  if (!line.simple) return undefined
  const words = line.words.map(({ value }) => value)
  if (name === "command") return words[0] === "-v" || words[0] === "-V" ? "not found" : undefined
  if (name !== "git" || line.name !== "git") return undefined
  if (words[0] === "grep") return "no match"
  const compares = words.some((word) => word === "--exit-code" || word === "--quiet" || word === "--no-index")
  return words[0] === "diff" && compares ? "they differ" : undefined
}
