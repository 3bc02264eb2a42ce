/**
 * Makes the one line that a result adds to a command's own output: the exit code, what it means where that is known for
 * sure, and the directory where that helps.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as CommandLine from "../bash/CommandLine.js"
import * as OpenCommand from "../bash/OpenCommand.js"
import * as SignalName from "../bash/SignalName.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Culprit from "./Culprit.js"
import * as CurlyQuotes from "./CurlyQuotes.js"
import * as ExtensionName from "./ExtensionName.js"
import type { Facts } from "./Facts.js"
import * as Lack from "./ForeignTool.lack.js"
import * as ForeignToolCall from "./ForeignTool.shell.js"
import * as MissingCommand from "./MissingCommand.js"
import * as MissingPath from "./MissingPath.js"
import * as OpenHereDocument from "./OpenHereDocument.js"
import * as OpenQuote from "./OpenQuote.js"
import * as StatusMeaning from "./StatusMeaning.js"
import * as Upstream from "./Upstream.js"
import * as WayOn from "./WayOn.js"

/**
 * Makes the remark on a result; undefined for a success that changed no directory, hides no failure in a pipeline, and has no
 * here-document without an end.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (facts: Facts): string | undefined => {
  const { result } = facts
  const open = OpenHereDocument.remark(result.stderr)
  if (result.exitCode === ExitCode.success) {
    const upstream = Upstream.remark(facts.command, result)
    const passed = MissingCommand.ofPassed(facts)
    const meant =
      passed === undefined
        ? (MissingCommand.ofStage(facts) ?? (upstream === undefined ? undefined : missingPath(facts)))
        : `${status(result.exitCode)} ${passed}`
    const stage = withDirectory(meant, result.movedTo)
    return [open, upstream, ...stage].filter((part) => part !== undefined).join(" ") || undefined
  }
  const line = Culprit.lineOf(facts.command)
  const { tokens } = CommandLine.parse(facts.command)
  const known = CurlyQuotes.remark(facts.command, tokens, result) ?? meaningOf(line, facts)
  const beside = Upstream.beside(tokens, result, known)
  const meaning = known === undefined || beside === undefined ? (known ?? beside) : `${known}; ${beside}`
  const directory = result.movedTo ?? (meaning === undefined && saysMissing(result) ? facts.cwd : undefined)
  return [open, status(result.exitCode), ...withDirectory(meaning, directory)]
    .filter((part) => part !== undefined)
    .join(" ")
}

/** Asks whether another file was meant than one that a part of a pipeline did not find. */
const missingPath = ({ around, command, cwd, result: { movedTo, stderr } }: Facts): string | undefined =>
  MissingCommand.didYouMean(MissingPath.meant(CommandLine.parse(command), stderr, movedTo ?? cwd, around))

/**
 * Words an exit code.
 *
 * @since 0.1.0
 */
export const status = (exitCode: number): string => `[exit ${exitCode}]`

/** Puts the directory behind a meaning, or before one of several lines, whose last may be the end of a here-document. */
const withDirectory = (
  meaning: string | undefined,
  directory: string | undefined
): ReadonlyArray<string | undefined> => {
  const where = directory === undefined ? undefined : inside(directory)
  return meaning?.includes("\n") === true ? [where, meaning] : [meaning, where]
}

const inside = (directory: string): string => `(in ${directory.replace(/[\x00-\x1f\x7f]/g, "?")})`

/**
 * Returns what an exit code means; undefined where that is not known.
 *
 * @param ofStatus tells it of one that is an answer, and no failure
 * @since 0.1.0
 */
export const meaningOf = (
  line: CommandLine.CommandLine,
  facts: Facts,
  ofStatus: typeof StatusMeaning.of = StatusMeaning.of
): string | undefined => {
  const { around, cwd, result } = facts
  const way = WayOn.of(line, facts)
  if (way !== undefined) return way
  switch (result.exitCode) {
    case ExitCode.timeout:
      return ofTimeout(line)
    case 126:
      return ofNotExecutable(facts)
    case ExitCode.notFound:
      return (
        MissingCommand.meant(line, facts) ??
        MissingCommand.didYouMean(MissingPath.meant(line, result.stderr, cwd, around))
      )
    default:
      return (
        ofSignal(line, result) ??
        ofFunctionCall(facts) ??
        (result.exitCode === 2 ? OpenQuote.remark(line.text, result.stderr) : undefined) ??
        ofOpen(facts) ??
        ofStatus(line, result) ??
        ofObject(line, facts) ??
        MissingCommand.didYouMean(MissingPath.meant(line, result.stderr, result.movedTo ?? cwd, around))
      )
  }
}

/** Tests whether a path is missing that depends on the directory. */
const saysMissing = ({ exitCode, stderr }: CommandResult): boolean =>
  MissingPath.linesIn(stderr).some(
    (line) =>
      !/(?:^|[\s'‘"])\/\S.*No such/.test(line) &&
      // What `env` and `xargs` miss is a program.
      (exitCode !== ExitCode.notFound || line.startsWith("bash: "))
  )

const ofSignal = (line: CommandLine.CommandLine, { exitCode, stderr }: CommandResult): string | undefined => {
  const words = SignalName.ofExitCode(exitCode)
  if (words === undefined || stderr.includes(words.replace(/ \(.*/, ""))) return undefined
  return new RegExp(`\\b${exitCode}\\b`).test(line.text) ? undefined : words
}

const ofTimeout = (line: CommandLine.CommandLine): string | undefined =>
  line.tokens.some((token) => token._tag === "Word" && /^(?:\S*\/)?timeout$/.test(token.value))
    ? "timeout ended it; give it longer, or put it in the background: >log 2>&1 &"
    : undefined

const interpreters: Readonly<Record<string, string>> = {
  ".bash": "bash",
  ".js": "node",
  ".mjs": "node",
  ".pl": "perl",
  ".py": "python3",
  ".rb": "ruby",
  ".sh": "bash"
}

const ofNotExecutable = ({ around, cwd, result: { movedTo, stderr } }: Facts): string | undefined => {
  if (/^bash: .*: Argument list too long$/m.test(stderr))
    return "a program takes words of 128 KiB at most: use a pipe, a here-document or a file"
  const path = /^bash: (?:line \d+: )?([\w./@%+,:-]+): Permission denied$/m.exec(stderr)?.[1]
  if (path === undefined || around.kindOf(Path.resolve(movedTo ?? cwd, path)) !== "file") return undefined
  const extension = Path.extname(path)
  const interpreter = interpreters[extension]
  if (interpreter !== undefined) return `not executable: chmod +x ${path}, or ${interpreter} ${path}`
  // bash would take a text of any other kind for a script of its own.
  return extension === "" ? `not executable: chmod +x ${path}` : "not executable"
}

/** Returns how a command is written that was called as a function of a programming language is. */
const ofFunctionCall = (facts: Facts): string | undefined => {
  const { command, commands, result } = facts
  const { exitCode, stderr } = result
  if (exitCode > 2 || !commands.includes("mcp:*") || !stderr.includes("syntax error")) return undefined
  const meant = ExtensionName.ofFunctionCall(command)
  if (meant !== undefined && (!meant.startsWith("task:") || commands.includes("task:*")))
    return `it takes words, as every command: ${meant}`
  const tool = ForeignToolCall.ofFunctionCall(command, MissingCommand.offersIn(commands), facts.isOffline)
  const name = tool === undefined ? /^\s*([A-Za-z]+)\(/.exec(command)?.[1] : undefined
  if (name !== undefined) return Lack.ofCommand(name, facts)
  return tool === undefined ? undefined : `here it is: ${tool}`
}

/** Returns the call of a command of ours that was given an object, as a tool of another agent is. */
const ofObject = (line: CommandLine.CommandLine, { commands }: Facts): string | undefined => {
  const meant = ForeignToolCall.ofOwn(line, MissingCommand.offersIn(commands))
  return meant === undefined ? undefined : `here it is: ${meant}`
}

/** Names the compound commands that bash misses the ends of. */
const ofOpen = ({ command, result: { exitCode, stderr } }: Facts): string | undefined => {
  if (exitCode !== 2 || !/^bash: line \d+: syntax error: unexpected end of file$/m.test(stderr)) return undefined
  const open = OpenCommand.find(command, CommandLine.parse(command).tokens)?.slice(-mostOpen).reverse()
  const [innermost] = open ?? []
  if (open === undefined || innermost === undefined) return undefined
  const named = open.map(({ end, line, word }) => `the ${word} on line ${line} has no ${end}`).join(", ")
  // It is a word of the command before it.
  const isLastWord = /[^;&|\s]\s+(\S+)\s*$/.exec(command)?.[1] === innermost.end
  return isLastWord ? `${named}: put ; before the last ${innermost.end}` : named
}

/** The most compound commands that are named. */
const mostOpen = 3
