/** Words the lines of a run. The texts of models and commands in them are harmless, and each is one line. */
import * as ForeignText from "../../domain/ForeignText.js"
import * as TextCut from "../../domain/TextCut.js"
import * as ToolCall from "../../domain/ToolCall.js"
import * as TerminalText from "../../toolset/TerminalText.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import * as Columns from "./Columns.js"

/** The most characters of a description, and of a command line. */
const longest = 200

/** The most lines of an output that are shown. */
const mostLines = 4

/** Returns a text on one line of at most so many characters; where it is cut, it ends in `...`. */
export const short = (text: string, most = longest): string => {
  // An escape is longer than what it stands for, and much white space goes.
  const start = TextCut.startOf(text, 4 * most)
  const shown = ForeignText.escape(start.replace(/[\s\u0085]+/gu, " ").trim())
  if (shown.length <= most && start.length === text.length) return shown
  return `${TextCut.startOf(shown, most - 3).trimEnd()}...`
}

/** Reads the command of a call of `Bash`; undefined for another tool's. */
const commandOf = (call: ToolCall.ToolCall): string | undefined =>
  call.name === "Bash" ? ToolCall.commandOf(call) : undefined

/** Names a call: `Bash(ls -la)`, or `TodoWrite`, whose list its result tells. */
export const call = (call: ToolCall.ToolCall): string => {
  const command = commandOf(call)
  if (command !== undefined && /^\s*TodoWrite\b/.test(command)) return "TodoWrite"
  return `${ForeignText.word(call.name, 40)}(${short(command ?? call.arguments)})`
}

/** Names a call within a task by its command alone. */
export const tool = (called: ToolCall.ToolCall): string => {
  const command = commandOf(called)
  return command === undefined || /^\s*TodoWrite\b/.test(command) ? call(called) : short(command)
}

/** Returns the type of the task that a call is, where it is one and nothing else. */
export const taskType = (call: ToolCall.ToolCall): string | undefined =>
  /^\s*task:([\w:.@+-]+)(?=\s)/.exec(commandOf(call) ?? "")?.[1]

/** Names a task: `explore: find the router`. */
export const task = (type: string, description: string): string =>
  `${ForeignText.word(type, 40)}: ${short(description)}`

/** Words a time in milliseconds: `2.1s`, `1m05s`; in whole seconds for what goes on. */
export const time = (milliseconds: number, isWhole: boolean): string => {
  const seconds = Math.max(0, milliseconds) / 1000
  if (seconds < 60 && !isWhole) return `${seconds.toFixed(1)}s`
  const whole = Math.floor(seconds)
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, "0")}s`
}

/** Words how many tools a task has called, and its time: ` [4 tools, 2.1s]`. */
export const tally = (count: number, milliseconds: number, isWhole: boolean): string => {
  const facts = [
    ...(count === 0 ? [] : [`${count} tool${count === 1 ? "" : "s"}`]),
    ...(isWhole && milliseconds < 1000 ? [] : [time(milliseconds, isWhole)])
  ]
  return facts.length === 0 ? "" : ` [${facts.join(", ")}]`
}

/** The fewest columns of a name for which what stands behind it has a place. */
const shortestName = 8

/** Cuts a name so that the line fits; where the terminal is too narrow, nothing stands behind the name. */
const fitted = (name: string, line: (name: string, after: string) => string, after: string, columns: number) => {
  const room = columns - Columns.of(line("", after))
  if (room >= shortestName) return line(Columns.cut(name, room), after)
  return Columns.cut(line(Columns.cut(name, Math.max(1, columns - Columns.of(line("", "")))), ""), columns)
}

/** Words a task's line. Where it is too long for the columns, its name is cut. */
export const taskLine = (sign: string, name: string, after: string, columns: number): string =>
  fitted(name, (name, after) => `${sign} Task(${name})${after}`, after, columns)

/** Words a call's line, in the same way. */
export const callLine = (sign: string, name: string, after: string, columns: number): string =>
  fitted(name, (name, after) => `${sign} ${name}${after}`, after, columns)

/** Words how a call ended, behind its name: its exit code where that is no success, and a time that was long. */
export const callEnd = ({ extras, isError }: ToolReturn, milliseconds: number): string => {
  const isOwn = extras.error !== undefined || extras.interrupted === true || extras.blocked === true
  const facts = [
    ...(isError && !isOwn && extras.exitCode !== undefined ? [`exit code ${extras.exitCode}`] : []),
    ...(milliseconds < 1000 ? [] : [time(milliseconds, false)])
  ]
  return `${isError && isOwn ? " FAILED" : ""}${facts.length === 0 ? "" : ` [${facts.join(", ")}]`}`
}

/** Returns the first lines of a text behind `└─`, and how many more there are; none where it is empty. */
export const result = (text: string, columns: number): ReadonlyArray<string> => {
  const lines = TerminalText.show(text).split("\n")
  while (lines.at(-1)?.trim() === "") lines.pop()
  const left = lines.length - mostLines
  const shown = lines.slice(0, left === 1 ? mostLines + 1 : mostLines).map(escaped)
  if (left > 1) shown.push(`... (${left} more lines)`)
  return shown.map((line, at) => Columns.cut(`${at === 0 ? "  └─ " : "     "}${line}`.trimEnd(), columns))
}

/** Returns the text of a call's result, without the words for an empty one. */
export const outputOf = ({ output }: ToolReturn): string => (output === "(no output)" ? "" : output)

/** Returns the last lines of a text that is being written. */
export const lastLines = (text: string, most: number): ReadonlyArray<string> =>
  TerminalText.show(text)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-most)
    .map(escaped)

const escaped = (line: string): string => ForeignText.escape(line.slice(0, 2000).replaceAll("\t", "  "))
