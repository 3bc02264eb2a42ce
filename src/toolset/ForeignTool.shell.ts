/**
 * Writes the call of another agent's tool as the command that does the same here, where it was given as a command of the
 * shell (`Glob '**\/*.ts'`) or in the form of a function (`Read(file_path="a.ts")`).
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type * as CommandLine from "../bash/CommandLine.js"
import * as Quote from "../bash/Quote.js"
import { Given } from "./ForeignTool.given.js"
import * as ForeignTool from "./ForeignTool.js"
import * as Literal from "./ForeignTool.literal.js"
import * as Search from "./ForeignTool.search.js"
import * as Words from "./ForeignTool.words.js"

/** Matches the names of tools: no program is called so, which may only be missing here. */
const toolName = /[A-Z_]/

/** The tools whose names are in lower case, and are no programs' names. */
const lowerCase = new Set(["applypatch", "glob", "list", "multiedit", "shell", "todoread", "todowrite", "webfetch"])

/**
 * Tests whether a name that bash did not find is one that a tool of another agent may have.
 *
 * @since 0.1.0
 */
export const isTool = (name: string): boolean =>
  name === "fd" || searching.has(name) || lowerCase.has(name) || toolName.test(name)

/** The most characters of a call that is written again. */
const longest = 1000

const short = (text: string): string | undefined => (text.length > longest ? undefined : text)

/** Matches what stands for a value that was not given: no command with it can be run. */
const placeholder = /(?:^| )<[a-z]+>(?: |$)|'\{…\}'/

const commandOf = (
  name: string,
  params: unknown,
  offers: ForeignTool.Offers,
  isOffline: boolean
): string | undefined => {
  const advice = ForeignTool.advise(name, params, offers, isOffline)
  const [only, more] = advice ?? []
  const isCommand = more === undefined && Predicate.isTagged(only, "Run") && "command" in only
  return isCommand && !placeholder.test(only.command) ? short(only.command) : undefined
}

/** The programs that search as `Grep` does, and are often not there. */
const searching = new Set(["ag", "rg"])

/**
 * Returns the command for a tool that was called with words; undefined where words mean nothing certain.
 *
 * @since 0.1.0
 */
export const ofWords = (
  name: string,
  line: CommandLine.CommandLine,
  offers: ForeignTool.Offers,
  isOffline = false
): string | undefined => {
  const { words } = line
  if (name === "fd") return found(words.map(({ closed, expands, value }) => (closed && !expands ? value : "-")))
  const isSearch = searching.has(name)
  const [only, more] = words
  if (!isTool(name) || words.length === 0) return undefined
  const object = isSearch ? undefined : objectOf(line)
  if (object !== undefined) return own(commandOf(name, object, offers, isOffline), offers)
  if (/^apply_?patch$/.test(name)) {
    return more === undefined && only?.closed === true && !only.expands
      ? commandOf(name, only.value, offers, isOffline)
      : undefined
  }
  if (ForeignTool.isShell(name)) {
    const isLiteral = words.every(({ closed, expands, value }) => closed && !expands && !value.startsWith("-"))
    return isLiteral && more === undefined ? short(only?.value ?? "") : line.literal ? short(line.rest) : undefined
  }
  const params = Words.read(name, words)
  if (params === undefined) return undefined
  return own(isSearch ? short(Search.ripgrep(new Given(params))) : commandOf(name, params, offers, isOffline), offers)
}

/**
 * Returns the command for a command of ours that was given the arguments of a tool, as an object.
 *
 * @since 0.1.0
 */
export const ofOwn = (line: CommandLine.CommandLine, offers: ForeignTool.Offers): string | undefined => {
  const object = /^(?:edit|read|write)$/.test(line.name) && line.simple ? objectOf(line) : undefined
  return object === undefined ? undefined : own(commandOf(line.name, object, offers, true), offers)
}

/** Passes a command on where it is none of ours, or there is such a one. */
const own = (command: string | undefined, offers: ForeignTool.Offers): string | undefined => {
  const [name = ""] = command?.split(" ", 1) ?? []
  return ourOwn.has(name) && !offers(name) ? undefined : command
}

const ourOwn = new Set(["TodoWrite", "edit", "read", "write"])

/**
 * Returns the command of ours that does what another agent's tool does; undefined where there is none.
 *
 * @since 0.1.0
 */
export const ownFor = (name: string, offers: ForeignTool.Offers): string | undefined => {
  const [first] = (toolName.test(name) ? ForeignTool.advise(name, {}, offers) : undefined) ?? []
  if (!Predicate.isTagged(first, "Run") || !("command" in first)) return undefined
  const [own = ""] = first.command.split(" ", 1)
  return ourOwn.has(own) && own !== name && offers(own) ? own : undefined
}

/** Writes `fd` with a plain part of a name, and perhaps a directory, as `find`. */
const found = ([name = "-", directory = ".", ...more]: ReadonlyArray<string>): string | undefined =>
  /^[\w.][\w.-]*$/.test(name) && !directory.startsWith("-") && more.length === 0
    ? `find ${Quote.word(directory)} -name '*${name}*'`
    : undefined

/**
 * Returns the name of an MCP tool with the words that it was called with; the name alone where they are not certain.
 *
 * @since 0.1.0
 */
export const withWords = (name: string, { words }: CommandLine.CommandLine): string => {
  if (!words.every(({ closed, expands }) => closed && !expands)) return name
  const [only, more] = words.map(({ value }) => value)
  const isObject = only !== undefined && more === undefined && Predicate.isRecord(parsed(only))
  const given = words.map(({ value }) => Quote.word(value))
  return short([name, ...(isObject ? ["--json"] : []), ...given].join(" ")) ?? name
}

/** Matches what begins a call in the form of a function, where a command can begin. */
const functionForm =
  /(?<=^|[\n;&|(]|\b(?:do|else|if|then|until|while)\s|^!|\s!)([ \t]*)([A-Za-z][\w.-]{0,127})[ \t]*\(/g

interface FunctionCall {
  readonly start: number
  readonly end: number
  readonly command: string
}

/**
 * Returns the command line for a text with tools that are called in the form of a function; undefined where the arguments
 * of one are not certain. Nothing of its first line was run.
 *
 * @since 0.1.0
 */
export const ofFunctionCall = (text: string, offers: ForeignTool.Offers, isOffline = false): string | undefined => {
  if (text.length > longest) return undefined
  const calls: Array<FunctionCall> = []
  functionForm.lastIndex = 0
  for (let found = functionForm.exec(text); found !== null; found = functionForm.exec(text)) {
    const [all, blank = "", name = ""] = found
    const last = found.index + all.length - 1
    const end = Literal.closing(text, last)
    const params = end === undefined ? undefined : Literal.read(name, text.slice(last + 1, end).trim())
    const command = params === undefined ? undefined : commandOf(name, params, offers, isOffline)
    if (end === undefined || command === undefined) return undefined
    calls.push({ start: found.index + blank.length, end: end + 1, command })
    functionForm.lastIndex = end + 1
  }
  const [first] = calls
  if (first === undefined) return undefined
  const before = text.slice(0, first.start)
  const ends = calls.map(({ end }) => end)
  const between = calls.map(({ start }, index) => text.slice(ends[index - 1] ?? 0, start)).join("")
  const around = between + text.slice(ends.at(-1))
  if (!/[^\s;]/.test(around)) return calls.map(({ command }) => command).join("\n")
  // In a here-document, it is no call; and what stands on earlier lines may have run.
  const isPlain = !around.includes("<<") && !/\S[^\n]*\n/.test(before)
  return isPlain && calls.every(({ command }) => !command.includes("\n")) ? short(replaced(text, calls)) : undefined
}

const replaced = (text: string, calls: ReadonlyArray<FunctionCall>): string =>
  calls.reduceRight((rest, { command, end, start }) => rest.slice(0, start) + command + rest.slice(end), text).trim()

/** Returns the object that a call's words are as JSON, with or without quotes for bash. */
const objectOf = ({ rest, words }: CommandLine.CommandLine): unknown => {
  const [only, more] = words
  const value = more === undefined && only?.closed === true && !only.expands ? parsed(only.value) : undefined
  const whole = Predicate.isReadonlyRecord(value) ? value : parsed(rest)
  return Predicate.isReadonlyRecord(whole) ? whole : undefined
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
