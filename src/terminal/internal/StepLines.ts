/** The lines of a run, with untrusted text escaped and on one line. */

import * as TextCut from "../../domain/TextCut.js"
import * as ToolCall from "../../domain/ToolCall.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as TerminalText from "../../toolset/TerminalText.js"
import { noOutput, type ToolReturn } from "../../toolset/ToolReturn.js"
import * as Columns from "../Columns.js"

const longest = 200

const mostLines = 4

/** Puts a text on one line and shortens it; a shortened text ends in `...`. */
export const short = (text: string, most = longest): string => {
  // White space shrinks, so more is read than shown.
  const start = TextCut.startOf(text, 4 * most)
  const shown = UntrustedText.escape(start.replace(/[\s\u0085]+/gu, " ").trim())
  if (shown.length <= most && start.length === text.length) return shown
  return `${TextCut.startOf(shown, most - 3).trimEnd()}...`
}

const commandOf = (call: ToolCall.ToolCall): string | undefined =>
  call.name === "Bash" ? ToolCall.commandOf(call) : undefined

/** Names a call: `Bash(ls -la)`. For `TodoWrite`, the name alone, since its result shows the list. */
export const call = (call: ToolCall.ToolCall): string => {
  const command = commandOf(call)
  if (command !== undefined && /^\s*TodoWrite\b/.test(command)) return "TodoWrite"
  return `${UntrustedText.word(call.name, 40)}(${short(command ?? call.arguments)})`
}

/** Names a call of a sub-agent by its command alone. */
export const tool = (called: ToolCall.ToolCall): string => {
  const command = commandOf(called)
  return command === undefined || /^\s*TodoWrite\b/.test(command) ? call(called) : short(command)
}

/** Returns a task's type, if the call begins with a `task:` command. */
export const taskType = (call: ToolCall.ToolCall): string | undefined =>
  /^\s*task:([\w:.@+-]+)(?=\s)/.exec(commandOf(call) ?? "")?.[1]

/** Formats a task: `explore: find the router`. */
export const task = (type: string, description: string): string =>
  `${UntrustedText.word(type, 40)}: ${short(description)}`

/** Formats a time: `2.1s`, `1m05s`; whole seconds while something runs. */
const time = (milliseconds: number, isWhole: boolean): string => {
  const seconds = Math.max(0, milliseconds) / 1000
  if (seconds < 60 && !isWhole) return `${seconds.toFixed(1)}s`
  const whole = Math.floor(seconds)
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, "0")}s`
}

/** Formats a tally: ` [4 tools, 2.1s]`. */
export const tally = (count: number, milliseconds: number, isWhole: boolean): string => {
  const facts = [
    ...(count === 0 ? [] : [`${count} tool${count === 1 ? "" : "s"}`]),
    ...(isWhole && milliseconds < 1000 ? [] : [time(milliseconds, isWhole)])
  ]
  return facts.length === 0 ? "" : ` [${facts.join(", ")}]`
}

const shortestName = 8

/** Shortens the name so that the line fits. On a very narrow terminal, it drops what follows the name. */
const fitted = (name: string, line: (name: string, after: string) => string, after: string, columns: number) => {
  const room = columns - Columns.of(line("", after))
  if (room >= shortestName) return line(Columns.cut(name, room), after)
  return Columns.cut(line(Columns.cut(name, Math.max(1, columns - Columns.of(line("", "")))), ""), columns)
}

export const taskLine = (sign: string, name: string, after: string, columns: number): string =>
  fitted(name, (name, after) => `${sign} Task(${name})${after}`, after, columns)

export const callLine = (sign: string, name: string, after: string, columns: number): string =>
  fitted(name, (name, after) => `${sign} ${name}${after}`, after, columns)

/** Describes how a call ended: its exit code if it failed, and its time if it was long. */
export const callEnd = ({ extras, isError }: ToolReturn, milliseconds: number): string => {
  const isOwn = extras.error !== undefined || extras.interrupted === true || extras.blocked === true
  const facts = [
    ...(isError && !isOwn && extras.exitCode !== undefined ? [`exit code ${extras.exitCode}`] : []),
    ...(milliseconds < 1000 ? [] : [time(milliseconds, false)])
  ]
  return `${isError && isOwn ? " FAILED" : ""}${facts.length === 0 ? "" : ` [${facts.join(", ")}]`}`
}

/** Returns the first lines of a text after `└─`, and how many more there are. */
export const result = (text: string, columns: number): ReadonlyArray<string> => {
  if (text === noOutput) return []
  const lines = TerminalText.show(text).split("\n")
  while (lines.at(-1)?.trim() === "") lines.pop()
  const left = lines.length - mostLines
  const shown = lines.slice(0, left === 1 ? mostLines + 1 : mostLines).map(escaped)
  if (left > 1) shown.push(`... (${left} more lines)`)
  return shown.map((line, at) => Columns.cut(`${at === 0 ? "  └─ " : "     "}${line}`.trimEnd(), columns))
}

const escaped = (line: string): string => UntrustedText.escape(line.slice(0, 2000).replaceAll("\t", "  "))
