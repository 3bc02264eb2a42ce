/**
 * Writes the call of another agent's tool as the command that does the same here, where it was given as a command of the
 * shell (`Glob '**\/*.ts'`) or in the form of a function (`Read(file_path="a.ts")`).
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type * as CommandLine from "../bash/CommandLine.js"
import * as Quote from "../bash/Quote.js"
import * as ForeignTool from "./ForeignTool.js"

const edit = ["file_path", "old_string", "new_string"]

/** The parameters that words without a name stand for, of the tools whose meaning is certain. */
const positional: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["Edit", edit],
  ["Glob", ["pattern", "path"]],
  ["Grep", ["pattern", "path"]],
  ["LS", ["path"]],
  ["Read", ["file_path"]],
  ["str_replace", edit]
])

/** The parameters that are given by name, as options are. */
const named: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["Glob", ["path"]],
  ["Grep", ["path", "glob", "type", "include"]],
  ["Read", ["offset", "limit"]]
])

/** The most characters of a call that is written again. */
const longest = 1000

const short = (text: string): string | undefined => (text.length > longest ? undefined : text)

const commandOf = (name: string, params: unknown, offers: ForeignTool.Offers): string | undefined => {
  const advice = ForeignTool.advise(name, params, offers)
  const [only, more] = advice ?? []
  return more === undefined && Predicate.isTagged(only, "Run") && "command" in only ? short(only.command) : undefined
}

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
  const names = positional.get(name)
  if (names === undefined || (names === edit && (words.length !== edit.length || !offers("edit")))) return undefined
  const given = new Map<string, string>()
  const plain: Array<CommandLine.CommandLine["words"][number]> = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    const option = word.quoted ? undefined : named.get(name)?.find((each) => word.value === `--${each}`)
    const value = option === undefined ? undefined : words[at + 1]
    if (option === undefined) plain.push(word)
    else if (value?.closed === true && !value.expands && !value.value.startsWith("-")) {
      given.set(option, value.value)
      at++
    } else return undefined
  }
  // A pattern of Glob may have been left without quotes.
  const isClear = plain.every(
    ({ closed, expands, value }) =>
      closed && (!expands || (name === "Glob" && !/[$`~<]/.test(value))) && !/^-/.test(value)
  )
  if (plain.length === 0 || plain.length > names.length || !isClear) return undefined
  const params = {
    ...Object.fromEntries(given),
    ...Object.fromEntries(plain.map(({ value }, at) => [names[at], value]))
  }
  return commandOf(name, params, offers)
}

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

const paramsOf = (name: string, given: string): Readonly<Record<string, unknown>> | undefined => {
  if (given === "") return {}
  const whole = parsed(given)
  if (Predicate.isRecord(whole)) return whole
  const [first] = positional.get(name) ?? []
  const lone = textOf(given)
  if (lone !== undefined) return first === undefined ? undefined : { [first]: lone }
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
