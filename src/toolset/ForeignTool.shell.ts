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
import * as Search from "./ForeignTool.search.js"
import * as Words from "./ForeignTool.words.js"

/** Matches the names of tools: no program is called so, which may only be missing here. */
const toolName = /[A-Z_]/

/** The most characters of a call that is written again. */
const longest = 1000

const short = (text: string): string | undefined => (text.length > longest ? undefined : text)

/** Matches what stands for a value that was not given: no command with it can be run. */
const placeholder = /(?:^| )<[a-z]+>(?: |$)|'\{…\}'/

const commandOf = (name: string, params: unknown, offers: ForeignTool.Offers): string | undefined => {
  const advice = ForeignTool.advise(name, params, offers)
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
  { words }: CommandLine.CommandLine,
  offers: ForeignTool.Offers
): string | undefined => {
  if (name === "fd") return found(words.map(({ closed, expands, value }) => (closed && !expands ? value : "-")))
  const isSearch = searching.has(name)
  const [only, more] = words
  if (name === "apply_patch" && more === undefined && only?.closed === true && !only.expands) {
    return commandOf(name, only.value, offers)
  }
  if ((!isSearch && !toolName.test(name)) || words.length === 0) return undefined
  const params = Words.read(name, words)
  if (params === undefined) return undefined
  const command = isSearch ? short(Search.ripgrep(new Given(params))) : commandOf(name, params, offers)
  const [own = ""] = command?.split(" ", 1) ?? []
  return ourOwn.has(own) && !offers(own) ? undefined : command
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

const call = /^\s*([A-Za-z][\w.-]{0,127})\s*\(([\s\S]*)\)\s*;?\s*$/

/** Matches a named argument: `path="a"`, `"path": "a"`, `limit=3`. */
const argument =
  /\s*["']?(\w{1,40})["']?\s*[=:]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d{1,15}|true|false)\s*(?:,|$)/sy

/**
 * Returns the command for a tool that was called in the form of a function; undefined where its arguments are not certain.
 *
 * @since 0.1.0
 */
export const ofFunctionCall = (text: string, offers: ForeignTool.Offers): string | undefined => {
  if (text.length > longest) return undefined
  const [, name, given = ""] = call.exec(text) ?? []
  if (name === undefined) return undefined
  const params = paramsOf(name, given.trim())
  return params === undefined ? undefined : commandOf(name, params, offers)
}

/** The parameters that a text alone stands for, of the tools whose meaning is certain. */
const lones: ReadonlyMap<string, string> = new Map([
  ["Glob", "pattern"],
  ["Grep", "pattern"],
  ["LS", "path"],
  ["Read", "file_path"]
])

const paramsOf = (name: string, given: string): Readonly<Record<string, unknown>> | undefined => {
  if (given === "") return {}
  const whole = parsed(given)
  if (Predicate.isRecord(whole)) return whole
  const lone = textOf(given)
  if (lone !== undefined) return lones.has(name) ? { [lones.get(name) as string]: lone } : undefined
  const named = new Map<string, unknown>()
  argument.lastIndex = 0
  while (argument.lastIndex < given.length) {
    const [, key, value] = argument.exec(given) ?? []
    if (key === undefined || value === undefined) return undefined
    named.set(key, textOf(value) ?? parsed(value))
  }
  return Object.fromEntries(named)
}

/** Returns the text of a literal in either kind of quotes. */
const textOf = (literal: string): string | undefined =>
  /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')$/s.test(literal)
    ? literal.slice(1, -1).replace(/\\n/g, "\n").replace(/\\(.)/gs, "$1")
    : undefined

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
