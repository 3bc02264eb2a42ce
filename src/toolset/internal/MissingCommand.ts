/** Finds the command that was meant by one which bash did not find. */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Command, List } from "../../bash/CommandTree.js"
import { Scanner } from "../../bash/Scanner.js"
import type { Word } from "../../bash/Token.js"
import * as Hint from "../../command/Hint.js"
import * as ReservedName from "../../command/ReservedName.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Similar from "../../domain/Similar.js"
import * as ExtensionName from "./ExtensionName.js"
import type { Facts } from "./Facts.js"
import * as Lack from "./ForeignTool.lack.js"
import * as ForeignToolCall from "./ForeignTool.shell.js"
import * as MissingPath from "./MissingPath.js"

/** A call by words. */
interface WordCall {
  readonly name: string
  /** The command alone, without what stands around it. */
  readonly line: CommandLine.CommandLine
  /** True where it reads from a pipe. */
  readonly isPiped: boolean
  /** True where it would do the same behind the script, in the directory that the shell is left in. */
  readonly isApart: boolean
}

const movers = new Set(["cd", "popd", "pushd"])
const shells = new Set(["bash", "sh"])

interface Found {
  readonly call: WordCall
  readonly isInner: boolean
  readonly order: number
}

interface Search {
  readonly isWanted: (name: string) => boolean
  readonly found: Array<Found>
  readonly moves: Array<{ readonly isInner: boolean; readonly order: number }>
  order: number
}

/** The depth of scripts within others that is looked into. */
const deepest = 4

/** Returns the calls of the commands whose names are wanted, in the order of the text. */
const callsForeignToolScript = (text: string, isWanted: (name: string) => boolean): ReadonlyArray<WordCall> => {
  const search: Search = { isWanted, found: [], moves: [], order: 0 }
  look(text, search, 0)
  const { found, moves } = search
  return found.map(({ call, isInner, order }) => ({
    ...call,
    isApart: moves.every((move) => !move.isInner && !isInner && move.order < order)
  }))
}

const look = (text: string, search: Search, depth: number): void => {
  const visit = (lists: ReadonlyArray<List>, isInner: boolean): void => {
    for (const { commands } of lists.flatMap(({ pipelines }) => pipelines)) {
      for (const [at, command] of commands.entries()) {
        one(text, command, search, depth, { isInner, isPiped: at > 0 })
        visit(command.lists, isInner || command.keyword === "(")
      }
    }
  }
  visit(CommandLine.parse(text).tree.lists, depth > 0)
}

const one = (
  text: string,
  { end, keyword, words }: Command,
  search: Search,
  depth: number,
  { isInner, isPiped }: { readonly isInner: boolean; readonly isPiped: boolean }
): void => {
  const raw = ({ end, start }: Word) => text.slice(start, end)
  const name = words.find((word) => !/^[A-Za-z_]\w*\+?=/.test(raw(word)) && word.value !== "time")
  for (const word of words) {
    if (raw(word).includes("$(")) within(raw(word), search, depth)
    if (word !== name || keyword !== undefined) continue
    const order = search.order++
    if (movers.has(name.value)) search.moves.push({ isInner, order })
    if (shells.has(name.value)) inner(words, search, depth)
    if (!search.isWanted(name.value)) continue
    const line = CommandLine.parse(text.slice(name.start, end))
    search.found.push({ call: { name: name.value, line, isPiped, isApart: false }, isInner, order })
  }
}

/** Looks into the substitutions of a word. */
const within = (raw: string, search: Search, depth: number): void => {
  if (depth >= deepest) return
  for (const { index } of raw.matchAll(/\$\((?!\()/g)) {
    const end = new Scanner(raw).endOfCommands(index + 2)
    // What is nested in it is another match.
    if (end >= 0) look(raw.slice(index + 2, end - 1), search, deepest)
  }
}

/** Looks into the script of `bash -c`. */
const inner = (words: ReadonlyArray<Word>, search: Search, depth: number): void => {
  const script = words[words.findIndex(({ value }) => /^-\w*c$/.test(value)) + 1]
  if (depth < deepest && script !== words[0] && script?.closed === true && !script.expands)
    look(script.value, search, depth + 1)
}

/** Asks whether something was meant. */
export const didYouMean = (meant: string | undefined): string | undefined =>
  meant === undefined ? undefined : `did you mean ${meant}?`

/**
 * Returns the command that a remark says was meant by one that is not there, and whether it surely was; undefined where it
 * names none.
 */
export const meantBy = (remark = ""): { readonly name: string; readonly isSure: boolean } | undefined => {
  const [, near, same] = /^\[exit 127\] (?:did you mean (\S+)[^\n]*\?|here it is: (\S+))/.exec(remark) ?? []
  const name = near ?? same
  return name === undefined ? undefined : { name, isSure: same !== undefined }
}

/**
 * Tests whether a command is not there, where a line that names it ended with 127; else it has missed another one itself.
 */
export const isMissing = (name: string, { notFound, stderr, stdout }: CommandResult): boolean =>
  notFound === name ||
  name.includes("/") ||
  (stderr === "" && stdout === "") ||
  stderr.includes(`bash: ${name}: `) ||
  isMissed(name, stderr) ||
  /^bash: exec: /m.test(stderr)

/** Returns a function that tests for commands besides the shell's own. */
export const offersIn =
  (commands: ReadonlyArray<string>) =>
  (command: string): boolean =>
    commands.includes(command.split(" ", 1).join()) || commands.includes(command.replace(/:.*/s, ":*"))

/** Names of other agents' commands that read what those of ours do, and take no words. */
const ours: Readonly<Record<string, string>> = {
  apply_patch: "edit --patch",
  applypatch: "edit --patch",
  TodoRead: "TodoWrite --show",
  todoread: "TodoWrite --show"
}

/** Returns what has the meaning of a command here, in the place of its name. */
const sameHere = (
  name: string,
  line: CommandLine.CommandLine | undefined,
  offers: (command: string) => boolean
): string | undefined => {
  if (name === "todo_write" && offers("TodoWrite")) return "TodoWrite"
  const own = Object.hasOwn(ours, name) ? ours[name] : undefined
  return own !== undefined && offers(own) && (line?.words.length ?? 0) === 0 ? own : undefined
}

/** Names whose likes do something else with several words, or with none of these. */
const unlike = new Set(["Edit", "Grep", "Read", "Write", "ag", "apply_patch", "fd", "rg"])

/** Returns what was meant by a line in which bash found no such command; undefined where that is not known. */
export const meant = (line: CommandLine.CommandLine, facts: Facts): string | undefined => {
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
  const offers = offersIn(commands)
  const calls = callsIn(line, name, facts)
  const tool = wordTools(calls, facts)
  if (tool !== undefined) return tool
  const call = calls.find((each) => each.name === name)
  const own = call?.line ?? (line.simple && name === line.name ? line : undefined)
  const same = sameHere(name, own, offers)
  if (same !== undefined) return didYouMean(same)
  const lack = Lack.ofCommand(name, facts)
  if (lack !== undefined) return lack
  const isCertain = own?.words.every(({ closed, expands }) => closed && !expands) === true
  if (
    name === "Write" &&
    isCertain &&
    own.words.length === 1 &&
    !/^-|=/.test(own.words[0]?.value ?? "") &&
    takesInput(call) &&
    offers("write")
  )
    return didYouMean("write")
  if (ForeignToolCall.isTool(name) && isCertain && call?.isPiped !== true && isUnlike(name)) return undefined
  const extension =
    name === line.name && commands.includes("mcp:*") && !lists.has(name)
      ? ExtensionName.meant(name, line, facts.extensions())
      : undefined
  if (extension !== undefined) {
    const isTool = name.startsWith("mcp__") && !extension.includes(" ")
    return didYouMean(isTool ? ForeignToolCall.withWords(extension, line) : extension)
  }
  if (result.notFound === undefined && !isMissed(name, result.stderr)) return undefined
  if (known.test(name)) return undefined
  const isNear = isSlip(name)
  const near = [...around.programs(isNear), ...[...Hint.builtins, ...commands].filter(isNear)]
  return didYouMean(Similar.nearest(name, near))
}

/** Names that only look like those of extension commands. */
const lists = new Set(["list"])

const isUnlike = (name: string): boolean => unlike.has(name)

/** Tests whether a call has something on its standard input. */
const takesInput = (call: WordCall | undefined): boolean =>
  call !== undefined &&
  (call.isPiped || call.line.tokens.some((token) => token._tag === "Operator" && token.value.startsWith("<")))

/**
 * Returns the calls of tools that bash did not find, and of those behind them, which it would not find either.
 */
const callsIn = (line: CommandLine.CommandLine, name: string, { around, result }: Facts): ReadonlyArray<WordCall> => {
  const missed = new Set([name, ...missedIn(result.stderr)])
  const isMissing = (other: string) =>
    missed.has(other) || (/^[A-Z]/.test(other) && around.programs((program) => program === other).length === 0)
  return callsForeignToolScript(line.text, (other) => ForeignToolCall.isTool(other) && isMissing(other))
}

const missedIn = (stderr: string): ReadonlyArray<string> =>
  Array.from(stderr.matchAll(/^bash: (?:line \d+: )?(.+): command not found$/gm), ([, name = ""]) => name)

/** Shows the commands for calls of tools by words; undefined where one of them means nothing certain. */
const wordTools = (calls: ReadonlyArray<WordCall>, { commands: known, isOffline }: Facts): string | undefined => {
  const offers = offersIn(known)
  const own = calls.map(({ isPiped, line, name }) =>
    isPiped ? undefined : ForeignToolCall.ofWords(name, line, offers, isOffline)
  )
  const commands = [...new Set(own)]
  const [only] = commands
  if (only === undefined || commands.includes(undefined)) return undefined
  const isOne = commands.length === 1
  if (!calls.every(({ isApart }) => isApart))
    return `in ${isOne ? "its place: " : "their places:\n"}${commands.join("\n")}`
  return isOne ? `here it is: ${only}` : `here they are:\n${commands.join("\n")}`
}

/**
 * Returns what was meant by a tool that bash did not find in a line which succeeded nevertheless, as one with
 * `x=$(Read a); echo $x` does.
 */
export const ofPassed = (facts: Facts): string | undefined => {
  const { command, result } = facts
  const [name] = result.pipeline === undefined ? missedIn(result.stderr).filter(ForeignToolCall.isTool) : []
  return name === undefined ? undefined : wordTools(callsIn(CommandLine.parse(command), name, facts), facts)
}

/** Returns what was meant by the one part of a pipeline that bash did not find, where its text is certain. */
export const ofStage = (facts: Facts): string | undefined => {
  const { command, result } = facts
  if (result.pipeline?.includes(ExitCode.notFound) !== true) return undefined
  const [name, ...others] = Array.from(
    result.stderr.matchAll(/^bash: (?:line \d+: )?(.+): command not found$/gm),
    ([, name]) => name
  )
  if (name === undefined || others.length > 0) return undefined
  return meant(CommandLine.parse(command), { ...facts, result: { ...result, notFound: name } })
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

/** Matches names of programs that are often not there, and are near to others which do something else. */
const known = /^(?:pipx|python2)$/

/** Tests whether one name can be a slip of another: few begin with the first character. */
const isSlip =
  (written: string) =>
  (name: string): boolean => {
    const isNear = Similar.isNear(written)
    const isExchanged = [...name].sort().join("") === [...written].sort().join("")
    return isNear(name) && (name[0]?.toLowerCase() === written[0]?.toLowerCase() || isExchanged)
  }

/** Tests whether a program such as `env` says that it did not find this one. */
const isMissed = (name: string, stderr: string): boolean =>
  MissingPath.linesIn(stderr).some(
    (line) =>
      !line.startsWith("bash: ") && [`‘${name}’: `, `'${name}': `, ` ${name}: `].some((said) => line.includes(said))
  )
