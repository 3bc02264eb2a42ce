/**
 * Makes the one line that a result adds to a command's own output: the exit code, what it means where that is known for
 * sure, and the directory where that helps.
 */
import * as Path from "node:path"
import * as Apostrophe from "../../bash/Apostrophe.js"
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandStatus from "../../bash/CommandStatus.js"
import * as SignalName from "../../bash/SignalName.js"
import * as Hint from "../../command/Hint.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as CommandWords from "../../sandbox/denial/CommandWords.js"
import * as Culprit from "./Culprit.js"
import * as CurlyQuotes from "./CurlyQuotes.js"
import * as ExtensionName from "./ExtensionName.js"
import type { Facts } from "./Facts.js"
import * as Lack from "./ForeignTool.lack.js"
import * as ForeignToolCall from "./ForeignTool.shell.js"
import * as MissingCommand from "./MissingCommand.js"
import * as MissingPath from "./MissingPath.js"
import * as WayOn from "./WayOn.js"

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

/** Tests whether exit code 1 of a program can be an answer, and no failure. */
const answers = (program: string): boolean => program.replace(/^.*\//, "") in meanings

/** Returns the meaning; undefined where it is not sure that this program decided the exit code. */
const of = (line: CommandLine.CommandLine, result: CommandResult): string | undefined => {
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

/** The exit codes by which programs say that they did not reach a host. */
const unreached: Readonly<Record<string, ReadonlyArray<number>>> = { curl: [5, 6, 7], wget: [4] }

type Result = Pick<CommandResult, "exitCode" | "offline" | "pipeline" | "stderr">

interface Failure {
  readonly name: string | undefined
  readonly code: number
  readonly text: string
}

/**
 * Returns who failed (`[pytest exited 1]`), and that it was for want of a network where that is known; undefined where
 * nobody did, or where the text does not tell whose exit codes they are.
 */
export const remarkUpstream = (command: string, result: Result): string | undefined => {
  const line = CommandLine.parse(command)
  const failed = failuresIn(line, result)
  if (failed.length === 0) return undefined
  return `[${textOf(failed)}${causeOf(line, failed, result)}]`
}

/**
 * Returns who failed in a pipeline that failed as a whole, before its last part; the last one too, where its exit code has no
 * meaning of its own.
 *
 * @param meaning the meaning of the exit code, where that is known
 */
export const besideUpstream = (
  line: CommandLine.CommandLine,
  result: Result,
  meaning: string | undefined
): string | undefined => {
  const failed = failuresIn(line, result, meaning === undefined)
  return failed.length === 0 ? undefined : textOf(failed)
}

const textOf = (failed: ReadonlyArray<Failure>): string => failed.map(({ text }) => text).join(", ")

/** Returns those that failed, but for the last part, which only counts where that is asked for. */
const failuresIn = (
  line: CommandLine.CommandLine,
  { exitCode, pipeline = [], stderr }: Result,
  withLast = false
): ReadonlyArray<Failure> => {
  const parts = pipeline.length < 2 ? undefined : CommandStatus.lastPipeline(line.tree, pipeline, exitCode)
  return (parts ?? []).flatMap((part, index) => {
    const code = pipeline[index] ?? 0
    const isLast = index === pipeline.length - 1
    if (code === 0 || code === ExitCode.brokenPipe || (isLast && !withLast)) return []
    if (!isLast && part.program !== undefined && code === 1 && answers(part.program)) return []
    const name = speakerOf(part, code, stderr)
    return {
      name,
      code,
      text: `${name ?? `part ${index + 1} of the pipeline`} exited ${code}${why(part, code, stderr)}`
    }
  })
}

/** Returns who has the exit code: what runs the program, where that says itself that it could not. */
const speakerOf = ({ program, wrappers }: CommandStatus.Part, code: number, stderr: string): string | undefined => {
  const lines = stderr.split("\n")
  const wrapper = wrappers.find((name) => {
    const bare = name.slice(name.lastIndexOf("/") + 1)
    const isMissing = (line: string) => line.startsWith("bash: ") && line.endsWith(`${name}: command not found`)
    const isItsWord = (line: string) => line.startsWith(`${bare}: `) && !line.includes("unable to resolve host")
    return lines.some((line) => (code === ExitCode.notFound && isMissing(line)) || isItsWord(line))
  })
  return wrapper ?? program
}

/** Tells why, where the exit code alone tells it. */
const why = ({ wrappers }: CommandStatus.Part, code: number, stderr: string): string => {
  if (code === ExitCode.timeout) return wrappers.includes("timeout") ? ": timeout ended it" : ""
  const signal = SignalName.ofExitCode(code)
  return signal === undefined || stderr.includes(signal.replace(/ \(.*/, "")) ? "" : `: ${signal}`
}

const causeOf = (
  { text, tree }: CommandLine.CommandLine,
  [first, ...others]: ReadonlyArray<Failure>,
  { offline }: Result
): string => {
  if (first === undefined || others.length > 0 || !isAlone(tree)) return ""
  if (offline === "socket") return ": the sandbox refuses unix sockets"
  const isCounted = offline === "counted" && !own.test(text)
  if (offline === "named" || (isCounted && saysUnreached(first.name, first.code))) return ": the sandbox has no network"
  return isCounted && CommandWords.programs.has(first.name ?? "")
    ? "; it tried the network, and the sandbox has none"
    : ""
}

/** Tests whether the pipeline is all that the text runs, but `cd`: then what was refused was refused to it. */
const isAlone = ({ lists: [list, ...others] }: CommandLine.CommandLine["tree"]): boolean => {
  const [first, second, ...more] = list?.pipelines ?? []
  if (others.length + more.length > 0) return false
  const [name, directory] = first?.commands[0]?.words ?? []
  return second === undefined || (second.before === "&&" && name?.value === "cd" && directory?.expands === false)
}

/** Matches the names of this machine, which are reached without a network. */
const own = /localhost|\b127\.|::1|0\.0\.0\.0/i

const saysUnreached = (name: string | undefined, code: number): boolean =>
  name !== undefined && Object.hasOwn(unreached, name) && unreached[name]?.includes(code) === true

/** The ways in which programs take as standard input what is often given to them as a quoted word. */
const hereDocuments: ReadonlyArray<readonly [command: RegExp, form: string]> = [
  [/^python3? -c\b/, "python3 - <<'EOF'"],
  [/^node (?:-e|--eval)\b/, "node - <<'EOF'"],
  [/^git commit (?:-m\b|--message\b)/, "git commit -F - <<'EOF'"],
  [/^TodoWrite\b/, "TodoWrite <<'EOF'"],
  [/^(?:echo|printf|cat)\b/, "cat <<'EOF'"]
]

/** The most characters of a quote's text that are shown. */
const longest = 16

/**
 * Makes the remark; undefined where bash misses no quote.
 *
 * @param text the command's text
 */
export const remarkOpenQuote = (text: string, stderr: string): string | undefined => {
  const [, quote] = /^bash: line \d+: unexpected EOF while looking for matching [`'](["'])'$/m.exec(stderr) ?? []
  if (quote === undefined) return undefined
  const found = quote === "'" ? Apostrophe.find(text) : undefined
  const what =
    found === undefined
      ? `${named(text, quote)} has no end: close it`
      : `the ' in ${found.written} ${found.ends ? "ends" : "opens"} a quote: write ${found.correct}`
  const form = hereDocuments.find(([command]) => command.test(text))?.[1]
  if (form === undefined) return what
  // Between double quotes, variables have their values; in such a here-document as well.
  const isExpanded = quote === '"' && /[$`]/.test(text)
  return `${what}, or ${isExpanded ? form.replaceAll("'", "") : form}`
}

/** Shows the beginning of what the only such quote opens; of several, bash knows only that one is too many. */
const named = (text: string, quote: string): string => {
  const [, behind = "", ...others] = text.split(quote)
  const [start = ""] = behind.split(/\s/, 1)
  return others.length > 0 || start === "" || start.length > longest ? `a ${quote}` : `${quote}${start}`
}

const warning = /^bash: (?:line \d+: )?warning: here-document at line \d+ delimited by end-of-file \(wanted `(.*)'\)$/m

/**
 * Makes the remark on a command that printed this to its standard error; undefined where all here-documents had an end.
 */
export const remark = (stderr: string): string | undefined => {
  const word = stderr === "" ? undefined : warning.exec(stderr)?.[1]
  return word === undefined
    ? undefined
    : `[here-document not closed: ${word} must stand alone on a line; all that follows was taken as text]`
}

/**
 * Makes the remark on a result; undefined for a success that changed no directory, hides no failure in a pipeline, and has no
 * here-document without an end.
 */
export const make = (facts: Facts): string | undefined => {
  const { result } = facts
  const open = remark(result.stderr)
  if (result.exitCode === ExitCode.success) {
    const upstream = remarkUpstream(facts.command, result)
    const passed = MissingCommand.ofPassed(facts)
    const meant =
      passed === undefined
        ? (MissingCommand.ofStage(facts) ?? (upstream === undefined ? undefined : missingPath(facts)))
        : `${status(result.exitCode)} ${passed}`
    const stage = withDirectory(meant, result.movedTo)
    return [open, upstream, ...stage].filter((part) => part !== undefined).join(" ") || undefined
  }
  const line = Culprit.lineOf(facts.command)
  const whole = CommandLine.parse(facts.command)
  const known = CurlyQuotes.remark(facts.command, whole.tokens, result) ?? meaningOf(line, facts)
  const beside = besideUpstream(whole, result, known)
  const meaning = known === undefined || beside === undefined ? (known ?? beside) : `${known}; ${beside}`
  const directory = result.movedTo ?? (meaning === undefined && saysMissing(result) ? facts.cwd : undefined)
  return [open, status(result.exitCode), ...withDirectory(meaning, directory)]
    .filter((part) => part !== undefined)
    .join(" ")
}

/** Asks whether another file was meant than one that a part of a pipeline did not find. */
const missingPath = ({ around, command, cwd, result: { movedTo, stderr } }: Facts): string | undefined =>
  MissingCommand.didYouMean(MissingPath.meant(CommandLine.parse(command), stderr, movedTo ?? cwd, around))

/** Words an exit code. */
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
 */
export const meaningOf = (
  line: CommandLine.CommandLine,
  facts: Facts,
  ofStatus: typeof of = of
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
        (result.exitCode === 2 ? remarkOpenQuote(line.text, result.stderr) : undefined) ??
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
  const { isAtRest, open: all } = CommandLine.parse(command).tree
  const open = isAtRest ? all.slice(-mostOpen).reverse() : []
  const [innermost] = open
  if (innermost === undefined) return undefined
  const named = open.map(({ end, line, word }) => `the ${word} on line ${line} has no ${end}`).join(", ")
  // It is a word of the command before it.
  const isLastWord = /[^;&|\s]\s+(\S+)\s*$/.exec(command)?.[1] === innermost.end
  return isLastWord ? `${named}: put ; before the last ${innermost.end}` : named
}

/** The most compound commands that are named. */
const mostOpen = 3
