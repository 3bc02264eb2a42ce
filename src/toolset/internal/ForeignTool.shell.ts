/**
 * Writes the call of another agent's tool as the command that does the same here, where it was given as a command of the
 * shell (`Glob '**\/*.ts'`) or in the form of a function (`Read(file_path="a.ts")`).
 */
import * as Predicate from "effect/Predicate"
import type * as CommandLine from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import type { Word } from "../../bash/Token.js"
import { Given } from "./ForeignTool.given.js"
import * as ForeignTool from "./ForeignTool.js"
import * as Search from "./ForeignTool.search.js"

type ForeignToolWordsWord = CommandLine.CommandLine["words"][number]

const edit = ["file_path", "old_string", "new_string"]
const listing = ["path"]
const reading = ["file_path"]
const searchingForeignToolWords = ["pattern", "path"]
const writing = ["file_path", "content"]

/** The parameters that words without a name stand for, by the tool's name in lower case and without underscores. */
const positional: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  (
    [
      ["edit editfile strreplace", edit],
      ["glob", searchingForeignToolWords],
      ["grep searchfilecontent", searchingForeignToolWords],
      ["ls listdir listdirectory listfiles", listing],
      ["read readfile view viewfile", reading],
      ["write writefile createfile", writing]
    ] as const
  ).flatMap(([names, parameters]) =>
    names.split(" ").map((name): [string, ReadonlyArray<string>] => [name, parameters])
  )
)

/** The same for the editor whose first word says what to do. */
const ofEditor: Readonly<Record<string, ReadonlyArray<string>>> = {
  create: ["command", "path", "file_text"],
  insert: ["command", "path", "insert_line", "insert_text"],
  str_replace: ["command", "path", "old_str", "new_str"],
  view: ["command", "path"]
}

const editors = new Set(["strreplacebasededittool", "strreplaceeditor", "texteditor"])

/** The parameters that are given by name, in lower case and without what is no letter. */
const named = new Set(
  "absolutepath command content contents endline filepath filename filetext glob headlimit include insertline inserttext limit newstr newstring offset oldstr oldstring outputmode path pattern query replaceall startline targetfile type".split(
    " "
  )
)

/** The options of a search that stand for parameters; those that are nothing in its place are empty. */
const flags: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  E: {},
  H: {},
  R: {},
  c: { output_mode: "count" },
  i: { "-i": true },
  l: { output_mode: "files_with_matches" },
  n: { output_mode: "content" },
  r: {}
}

/** The options of a search that take a number or a text. */
const valued: Readonly<Record<string, string>> = { A: "-A", B: "-B", C: "-C", e: "pattern", g: "glob", t: "type" }

/** Returns a tool's name as the tables have it. */
const plainForeignToolWords = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "")

const isCertain = ({ closed, expands }: ForeignToolWordsWord): boolean => closed && !expands

/** Tests whether a word is a pattern of files that was left without quotes. */
const isPattern = ({ closed, value }: ForeignToolWordsWord): boolean => closed && !/[$`~<]/.test(value)

/**
 * Returns the arguments; undefined where the words mean nothing certain.
 *
 * @param tool the tool's name; `rg` and `ag` are read as `grep`
 */
const readForeignToolWords = (
  tool: string,
  words: ReadonlyArray<ForeignToolWordsWord>
): Readonly<Record<string, unknown>> | undefined => {
  const name = tool === "rg" || tool === "ag" ? "grep" : plainForeignToolWords(tool)
  const isSearch = name === "grep"
  const given = new Map<string, unknown>()
  const places: Array<string> = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as ForeignToolWordsWord
    if (!isCertain(word) && !(name === "glob" && isPattern(word))) return undefined
    const { value } = word
    const [, key, text] = /^(?:--)?([A-Za-z_-]{1,40})=([\s\S]*)$/.exec(value) ?? []
    const next = words[at + 1]
    if (key !== undefined && named.has(plainForeignToolWords(key))) given.set(key, text)
    else if (/^--[a-z]/i.test(value)) {
      if (
        !named.has(plainForeignToolWords(value)) ||
        next === undefined ||
        !isCertain(next) ||
        next.value.startsWith("--")
      )
        return undefined
      given.set(value.slice(2), next.value)
      at++
    } else if (/^-./.test(value)) {
      const option = isSearch ? readFlags(value, next) : undefined
      if (option === undefined) return undefined
      for (const [flag, meaning] of Object.entries(option.given)) given.set(flag, meaning)
      if (option.takesNext) at++
    } else places.push(value)
  }
  const isEditor = editors.has(name)
  const first = isEditor ? String(given.get("command") ?? places[0]) : ""
  const parameters = isEditor ? (Object.hasOwn(ofEditor, first) ? ofEditor[first] : undefined) : positional.get(name)
  const left = parameters?.filter((parameter) => !isGiven(given, parameter)) ?? []
  // What begins with a brace may be meant for JSON.
  if (parameters === undefined || places.length > left.length || places[0]?.startsWith("{")) return undefined
  for (const [index, place] of places.entries()) given.set(left[index] as string, place)
  return parameters.every((parameter) => isGiven(given, parameter) || optional.has(parameter))
    ? Object.fromEntries(given)
    : undefined
}

/** The parameters that may be left out; without a path, a tool works where it is. */
const optional = new Set(["path"])

/** Names that stand for another. */
const spellings: Readonly<Record<string, RegExp>> = {
  content: /^(?:contents?|filetext)$/,
  file_path: /^(?:file|target|absolute)?path$|^(?:filename|targetfile)$/,
  file_text: /^(?:filetext|contents?)$/,
  new_str: /^newstr(?:ing)?$/,
  new_string: /^newstr(?:ing)?$/,
  old_str: /^oldstr(?:ing)?$/,
  old_string: /^oldstr(?:ing)?$/,
  path: /^(?:absolute|file)?path$/,
  pattern: /^(?:pattern|query)$/
}

const isGiven = (given: ReadonlyMap<string, unknown>, parameter: string): boolean =>
  [...given.keys()].some((key) =>
    (spellings[parameter] ?? new RegExp(`^${plainForeignToolWords(parameter)}$`)).test(plainForeignToolWords(key))
  )

/** Reads a word of options, `-in` or `-A3`, of which the last may take the next word. */
const readFlags = (
  word: string,
  next: ForeignToolWordsWord | undefined
): { readonly given: Readonly<Record<string, unknown>>; readonly takesNext: boolean } | undefined => {
  let given: Record<string, unknown> = {}
  for (let at = 1; at < word.length; at++) {
    const flag = word.charAt(at)
    const parameter = Object.hasOwn(valued, flag) ? valued[flag] : undefined
    if (parameter !== undefined) {
      const rest = word.slice(at + 1)
      const value = rest !== "" ? rest : next !== undefined && isCertain(next) ? next.value : undefined
      if (value === undefined || (flag <= "C" && !/^\d{1,5}$/.test(value))) return undefined
      return {
        given: { ...given, [parameter]: value, ...(flag <= "C" ? { output_mode: "content" } : undefined) },
        takesNext: rest === ""
      }
    }
    if (!Object.hasOwn(flags, flag)) return undefined
    given = { ...given, ...flags[flag] }
  }
  return { given, takesNext: false }
}

/** Matches the name of an argument, and what stands between it and the value. */
const naming = /\s*["']?(\w{1,40})["']?\s*[=:]\s*/sy

/** Matches a text in quotes, a number, or a word that stands for a value. */
const plain =
  /"""([\s\S]*?)"""|'''([\s\S]*?)'''|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d{1,15}|true|false|null|True|False|None)(?![\w.])/sy

/** Matches a path without quotes that is no name of a variable: `src/a.ts`, `a.txt`. */
const barePath = /^(?:[\w@~+.-]*\/[\w@~+./-]*|[\w-]+\.(?:[a-z]{1,3}\d?|json|yaml|toml|html|lock))$/

const separator = /\s*(?:,|$)\s*/y

const spoken: Readonly<Record<string, unknown>> = { None: null, True: true, False: false }

/** Returns the arguments; undefined where they mean nothing certain. */
export const read = (name: string, given: string): Readonly<Record<string, unknown>> | undefined => {
  if (given === "") return {}
  const whole = parsedForeignToolLiteral(given)
  if (Predicate.isRecord(whole)) return whole
  if (Array.isArray(whole)) return /^todo_?write$/i.test(name) ? { todos: whole } : undefined
  const named = new Map<string, unknown>()
  const places: Array<string> = barePath.test(given) ? [given] : []
  for (let at = places.length === 0 ? 0 : given.length; at < given.length; ) {
    naming.lastIndex = at
    const [before = "", key] = naming.exec(given) ?? []
    const found = valueAt(given, at + before.length)
    if (found === undefined) return undefined
    if (key !== undefined) named.set(key, found.value)
    else if (typeof found.value === "string" && !/^-|^[A-Za-z_]+=/.test(found.value)) places.push(found.value)
    else return undefined
    separator.lastIndex = found.end
    if (!separator.test(given)) return undefined
    at = separator.lastIndex
  }
  if (places.length === 0) return Object.fromEntries(named)
  const placed = readForeignToolWords(name, places.map(wordOf))
  return placed === undefined ? undefined : { ...placed, ...Object.fromEntries(named) }
}

const wordOf = (value: string): Word => ({
  _tag: "Word",
  start: 0,
  end: value.length,
  value,
  quoted: true,
  expands: false,
  closed: true
})

interface Found {
  readonly value: unknown
  readonly end: number
}

const valueAt = (text: string, start: number): Found | undefined => {
  plain.lastIndex = start
  const [all, ...kinds] = plain.exec(text) ?? []
  if (all !== undefined) {
    const [double, single, quoted, word = ""] = kinds
    const literal = double ?? single ?? quoted?.slice(1, -1)
    const value =
      literal === undefined
        ? Object.hasOwn(spoken, word)
          ? spoken[word]
          : parsedForeignToolLiteral(word)
        : textOf(literal)
    return { value, end: start + all.length }
  }
  if (text[start] !== "[" && text[start] !== "{") return undefined
  const end = closing(text, start)
  const value = end === undefined ? undefined : parsedForeignToolLiteral(text.slice(start, end + 1))
  return end === undefined || value === undefined ? undefined : { value, end: end + 1 }
}

const textOf = (literal: string): string => literal.replace(/\\n/g, "\n").replace(/\\(.)/gs, "$1")

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }

/** Returns where the bracket at a place is closed, outside of quotes; undefined where it is not. */
export const closing = (text: string, start: number): number | undefined => {
  const open: Array<string> = []
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"' || char === "'") {
      plain.lastIndex = at
      const [all] = plain.exec(text) ?? []
      if (all === undefined) return undefined
      at += all.length - 1
    } else if (Object.hasOwn(closers, char)) open.push(closers[char] as string)
    else if (char === open.at(-1)) {
      open.pop()
      if (open.length === 0) return at
    }
  }
  return undefined
}

const parsedForeignToolLiteral = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Matches the names of tools: no program is called so, which may only be missing here. */
const toolName = /[A-Z_]/

/** The tools whose names are in lower case, and are no programs' names. */
const lowerCase = new Set(["applypatch", "glob", "list", "multiedit", "shell", "todoread", "todowrite", "webfetch"])

/** Tests whether a name that bash did not find is one that a tool of another agent may have. */
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

/** Returns the command for a tool that was called with words; undefined where words mean nothing certain. */
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
  const params = readForeignToolWords(name, words)
  if (params === undefined) return undefined
  return own(isSearch ? short(Search.ripgrep(new Given(params))) : commandOf(name, params, offers, isOffline), offers)
}

/** Returns the command for a command of ours that was given the arguments of a tool, as an object. */
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

/** Returns the command of ours that does what another agent's tool does; undefined where there is none. */
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
 */
export const ofFunctionCall = (text: string, offers: ForeignTool.Offers, isOffline = false): string | undefined => {
  if (text.length > longest) return undefined
  const calls: Array<FunctionCall> = []
  functionForm.lastIndex = 0
  for (let found = functionForm.exec(text); found !== null; found = functionForm.exec(text)) {
    const [all, blank = "", name = ""] = found
    const last = found.index + all.length - 1
    const end = closing(text, last)
    const params = end === undefined ? undefined : read(name, text.slice(last + 1, end).trim())
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
