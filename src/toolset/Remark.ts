/**
 * Makes the one line that a result adds to a command's own output: the exit code, what it means where that is known for
 * sure, and the directory where that helps.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Apostrophe from "../bash/Apostrophe.js"
import * as CommandLine from "../bash/CommandLine.js"
import * as OpenCommand from "../bash/OpenCommand.js"
import * as SignalName from "../bash/SignalName.js"
import * as Hint from "../command/Hint.js"
import * as ReservedName from "../command/ReservedName.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Similar from "../domain/Similar.js"
import type { Surroundings } from "../sandbox/Surroundings.js"
import * as Culprit from "./Culprit.js"
import * as CurlyQuotes from "./CurlyQuotes.js"
import * as ExtensionName from "./ExtensionName.js"
import * as ForeignToolCall from "./ForeignTool.shell.js"
import * as MissingPath from "./MissingPath.js"
import * as OpenHereDocument from "./OpenHereDocument.js"
import * as StatusMeaning from "./StatusMeaning.js"
import * as Upstream from "./Upstream.js"

/**
 * The facts that a remark is made from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Facts {
  readonly command: string
  readonly result: CommandResult
  /** The shell's directory. */
  readonly cwd: string
  readonly around: Surroundings
  /** The names of the commands that are not the shell's own. */
  readonly commands: ReadonlyArray<string>
  /** Returns the names of the extension commands that are known. */
  readonly extensions: () => ReadonlyArray<string>
}

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
    const moved = result.movedTo === undefined ? undefined : inside(result.movedTo)
    return (
      [open, Upstream.remark(facts.command, result), ofMissingStage(facts), moved]
        .filter((part) => part !== undefined)
        .join(" ") || undefined
    )
  }
  const line = Culprit.lineOf(facts.command)
  const meaning =
    CurlyQuotes.remark(facts.command, CommandLine.parse(facts.command).tokens, result) ?? meaningOf(line, facts)
  const directory = result.movedTo ?? (meaning === undefined && saysMissing(result) ? facts.cwd : undefined)
  return [open, status(result.exitCode), meaning, directory === undefined ? undefined : inside(directory)]
    .filter((part) => part !== undefined)
    .join(" ")
}

/**
 * Words an exit code.
 *
 * @since 0.1.0
 */
export const status = (exitCode: number): string => `[exit ${exitCode}]`

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
  switch (result.exitCode) {
    case ExitCode.timeout:
      return ofTimeout(line)
    case 126:
      return ofNotExecutable(facts)
    case ExitCode.notFound:
      return ofMissing(line, facts) ?? didYouMean(MissingPath.meant(line, result.stderr, cwd, around))
    default:
      return (
        ofSignal(line, result) ??
        ofFunctionCall(facts) ??
        ofQuote(line, result) ??
        ofOpen(facts) ??
        ofStatus(line, result) ??
        didYouMean(MissingPath.meant(line, result.stderr, result.movedTo ?? cwd, around))
      )
  }
}

const didYouMean = (meant: string | undefined): string | undefined =>
  meant === undefined ? undefined : `did you mean ${meant}?`

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

/** Programs that often are not installed, and those with the same meaning that always are. */
const installed: Readonly<Record<string, string>> = {
  ag: "grep -rnE",
  fd: "find . -name '*…*'",
  rg: "grep -rnE"
}

/** Names of other agents' commands, and ours. */
const ours: Readonly<Record<string, string>> = {
  apply_patch: "edit --patch <<'EOF'",
  str_replace: "edit <file> <old> <new>",
  str_replace_based_edit_tool: "edit <file> <old> <new>",
  str_replace_editor: "edit <file> <old> <new>",
  TodoRead: "TodoWrite --show"
}

/** Returns what has the meaning of a command here. */
const sameHere = (name: string, commands: ReadonlyArray<string>): string | undefined => {
  if (Object.hasOwn(installed, name)) return installed[name]
  const own = Object.hasOwn(ours, name) ? ours[name] : undefined
  return own !== undefined && commands.includes(own.slice(0, own.indexOf(" "))) ? own : undefined
}

const ofMissing = (line: CommandLine.CommandLine, facts: Facts): string | undefined => {
  const { around, commands, result } = facts
  // A command of ours has told it itself.
  if (result.category !== undefined) return undefined
  const quoted = ofQuotedLine(line, facts)
  if (quoted !== undefined) return quoted
  const name = result.notFound ?? Hint.missing(line)
  if (name === undefined || name.includes("/")) return undefined
  if (ReservedName.isReserved(name)) {
    const known = facts.extensions()
    const near = known.includes(name) ? undefined : Similar.nearest(name, known)
    if (near !== undefined) return didYouMean(near)
    // What the line calls itself has said on standard error what is wrong.
    return name === line.name
      ? undefined
      : `programs find ${name} by the PATH of this shell: keep that, or call it in the line itself`
  }
  const isLines = name === line.name
  const tool = isLines ? ForeignToolCall.ofWords(name, line, offersIn(commands)) : undefined
  const here = tool ?? sameHere(name, commands)
  if (here !== undefined) return `here it is: ${here}`
  const extension =
    isLines && commands.includes("mcp:*") ? ExtensionName.meant(name, line, facts.extensions()) : undefined
  if (extension !== undefined) {
    const isTool = name.startsWith("mcp__") && !extension.includes(" ")
    return didYouMean(isTool ? ForeignToolCall.withWords(extension, line) : extension)
  }
  if (result.notFound === undefined && !isMissed(name, result.stderr)) return undefined
  const isNear = Similar.isNear(name)
  return didYouMean(Similar.nearest(name, [...around.programs(isNear), ...Hint.builtins, ...commands]))
}

/** Returns what was meant by the one part of a pipeline that bash did not find, where its text is certain. */
const ofMissingStage = (facts: Facts): string | undefined => {
  const { command, result } = facts
  if (result.pipeline?.includes(ExitCode.notFound) !== true) return undefined
  const [name, ...others] = Array.from(
    result.stderr.matchAll(/^bash: (?:line \d+: )?(.+): command not found$/gm),
    ([, name]) => name
  )
  const { tokens } = CommandLine.parse(command)
  const [word, ...same] = tokens.filter((token) => token._tag === "Word" && token.value === name)
  if (name === undefined || word === undefined || others.length > 0 || same.length > 0) return undefined
  const end = tokens.find(
    (token) => token._tag === "Operator" && token.start > word.start && /^[|&;)]/.test(token.value)
  )
  const stage = CommandLine.parse(command.slice(word.start, end?.start))
  return ofMissing(stage, { ...facts, command: stage.text, result: { ...result, notFound: name } })
}

/** Returns the command that was meant by a line that is one quoted word, of which bash makes the name of a command. */
const ofQuotedLine = ({ command, words }: CommandLine.CommandLine, { around, commands }: Facts): string | undefined => {
  const [name, ...others] = command?.quoted === true && words.length === 0 ? command.value.split(" ") : []
  if (name === undefined || others.length === 0 || command === undefined) return undefined
  const isKnown =
    Hint.builtins.has(name) || commands.includes(name) || around.programs((other) => other === name).length > 0
  return isKnown && !/\n/.test(command.value)
    ? `the quotes make one word of it; without them: ${command.value}`
    : undefined
}

/** Tests whether a program such as `env` says that it did not find this one. */
const isMissed = (name: string, stderr: string): boolean =>
  MissingPath.linesIn(stderr).some(
    (line) =>
      !line.startsWith("bash: ") && [`‘${name}’: `, `'${name}': `, ` ${name}: `].some((said) => line.includes(said))
  )

/** The ways in which programs take as standard input what is often given to them as a quoted word. */
const hereDocuments: ReadonlyArray<readonly [command: RegExp, form: string]> = [
  [/^python3? -c\b/, "python3 - <<'EOF'"],
  [/^node (?:-e|--eval)\b/, "node - <<'EOF'"],
  [/^git commit (?:-m\b|--message\b)/, "git commit -F - <<'EOF'"],
  [/^TodoWrite\b/, "TodoWrite <<'EOF'"],
  [/^(?:echo|printf|cat)\b/, "cat <<'EOF'"]
]

const ofQuote = ({ text }: CommandLine.CommandLine, { exitCode, stderr }: CommandResult): string | undefined => {
  if (exitCode !== 2 || !/^bash: line \d+: unexpected EOF while looking for matching [`']''$/m.test(stderr))
    return undefined
  const found = Apostrophe.find(text)
  if (found === undefined) return undefined
  const form = hereDocuments.find(([command]) => command.test(text))?.[1]
  const what = `the ' in ${found.written} ${found.ends ? "ends" : "opens"} a quote: write ${found.correct}`
  return form === undefined ? what : `${what}, or ${form}`
}

/** Returns how a command is written that was called as a function of a programming language is. */
const ofFunctionCall = ({ command, commands, result: { exitCode, stderr } }: Facts): string | undefined => {
  if (exitCode !== 2 || !commands.includes("mcp:*") || !stderr.includes("syntax error")) return undefined
  const meant = ExtensionName.ofFunctionCall(command)
  if (meant?.startsWith("task:") === true && !commands.includes("task:*")) return undefined
  if (meant !== undefined) return `it takes words, as every command: ${meant}`
  const tool = ForeignToolCall.ofFunctionCall(command, offersIn(commands))
  return tool === undefined ? undefined : `here it is: ${tool}`
}

const offersIn =
  (commands: ReadonlyArray<string>) =>
  (command: string): boolean =>
    commands.includes(command.split(" ", 1).join()) || commands.includes(command.replace(/:.*/s, ":*"))

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
