/** Reads the arguments of a call of `Bash` as models write them, and makes from wrong ones the call that is right. */
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../bash/CommandLine.js"
import * as Quote from "../bash/Quote.js"
import * as Timeout from "../domain/Timeout.js"
import * as ShellWords from "./internal/ShellWords.js"

type Given = Readonly<Record<string, unknown>>

/** The command of a call that only restarts the shell. */
const nothing = ":"

/** Tests whether arguments are a command and nothing else, as they mostly are: there is nothing to prepare then. */
const isCommandAlone = (given: Given): boolean => {
  for (const name in given) if (name !== "command") return false
  const { command } = given
  return typeof command === "string" && command !== ""
}

/**
 * Writes arguments in the form of the tool's parameters where only one meaning is possible: `cmd` for `command`, a
 * timeout as a string, nulls, `restart` alone. Everything else stays as it is, to be checked.
 */
export const prepare = (given: unknown): unknown => {
  // The text of half a character, as `\\ud800`, is only looked for in the call's own JSON.
  const object = typeof given === "string" && !/\\ud[89a-f]/i.test(given) ? parsed(given) : given
  if (!Predicate.isReadonlyRecord(object)) return given
  if (isCommandAlone(object)) return object
  const { cmd, run_in_background, ...others }: Given = Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null)
  )
  const isForeground = isSaid(run_in_background, false)
  const read: Record<string, unknown> = {
    ...others,
    ...(run_in_background === undefined || isForeground ? undefined : { run_in_background })
  }
  const { command, restart, timeout } = read
  if (cmd !== undefined) read[command === undefined || command === cmd ? "command" : "cmd"] = cmd
  if (typeof timeout === "string" && /^\d{1,10}$/.test(timeout)) read["timeout"] = Number(timeout)
  for (const value of [true, false]) if (isSaid(restart, value)) read["restart"] = value
  const isBlank = read["command"] === undefined || (Predicate.isString(read["command"]) && !/\S/.test(read["command"]))
  if (isBlank && read["restart"] === true) read["command"] = nothing
  return read
}

/** Tests whether prepared arguments ask for nothing but a new shell. */
export const isRestartAlone = ({ command, restart }: { readonly command: string; readonly restart?: boolean }) =>
  restart === true && command === nothing

/** The form of a right call, where a wrong one is no arguments at all. */
export const form = '{"command":"<command>"}'

/**
 * Makes the arguments of a right call from what a wrong one gave, as a line of JSON: `{"command":"ls src"}`; undefined where
 * it gave no command.
 */
export const example = (given: unknown): string | undefined => {
  const prepared = prepare(typeof given === "string" ? repaired(given) : given)
  const object: Given = Predicate.isReadonlyRecord(prepared) ? prepared : {}
  const { description, restart, timeout } = object
  const milliseconds = timeout === undefined ? millisecondsOf(object["timeout_ms"]) : millisecondsOf(asSeconds(timeout))
  const isGiven = object["command"] !== undefined && object["command"] !== nothing
  const line = commandOf({
    ...object,
    command: isGiven ? object["command"] : (commandIn({ ...object, command: undefined }) ?? object["command"])
  })
  if (line === undefined) return undefined
  return JSON.stringify({
    command: line.length > longest ? "<command>" : line,
    ...(restart === true ? { restart } : undefined),
    ...(milliseconds === undefined ? undefined : { timeout: milliseconds }),
    ...(typeof description === "string" && description.length < longest ? { description } : undefined)
  })
}

/** The names that other tools have for a command, in lower case and without what is no letter. */
const names = new Set("bash bashcommand cmd code command commandline input script shell shellcommand".split(" "))

/** Returns the command that stands under the name of another tool; undefined where there is none, or more than one. */
const commandIn = (given: Given): unknown => {
  const found = Object.entries(given).filter(
    ([name, value]) => value !== undefined && names.has(name.toLowerCase().replace(/[^a-z]/g, ""))
  )
  return found.length === 1 ? found[0]?.[1] : undefined
}

/** The most characters of a command that is shown again; in bash, the placeholder of a longer one is a syntax error. */
const longest = 2000

/** Makes the command that does by itself what further arguments ask for; undefined where there is none. */
const commandOf = (given: Given): string | undefined => {
  const { command, run_in_background } = given
  const text = ShellWords.toCommand(command)
  if (text === undefined) return undefined
  const directory = ["cwd", "workdir", "working_directory", "directory"]
    .map((name) => given[name])
    .find((value) => typeof value === "string" && value !== "")
  const there = typeof directory === "string" ? ShellWords.inDirectory(directory, text) : text
  return isSaid(run_in_background, true) ? inBackground(there) : there
}

/** Writes a command so that it runs in the background, with its output in a file. */
export const inBackground = (command: string): string => {
  const line = CommandLine.parse(command.trim())
  if (line.tokens.findLast(({ _tag }) => _tag === "Operator")?.end === line.text.length && line.text.endsWith("&")) {
    return line.text
  }
  const name = /[\w.-]+$/.exec(line.name)?.[0] ?? "command"
  const isPlain = line.simple && line.tokens.every(({ _tag }) => _tag === "Word" || _tag === "Blank")
  return `${isPlain ? line.text : ShellWords.group(line.text)} >${Quote.word(`${name}-background.log`)} 2>&1 &`
}

const units: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1000,
  sec: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000
}

/** Adds the unit to a small fraction, which is meant as seconds: nobody counts parts of a millisecond. */
const asSeconds = (timeout: unknown): unknown =>
  /^\s*\d{1,3}\.0*[1-9]\d*\s*$/.test(String(timeout)) ? `${String(timeout).trim()}s` : timeout

const millisecondsOf = (timeout: unknown): number | undefined => {
  const [, count, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/.exec(String(timeout)) ?? []
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined
  if (count === undefined || factor === undefined) return undefined
  const milliseconds = Math.min(Math.ceil(Number(count) * factor), Timeout.longest)
  return milliseconds < 1 ? undefined : milliseconds
}

/** Tests whether a value is a truth value, or the word for it. */
const isSaid = (given: unknown, value: boolean): boolean =>
  given === value || (typeof given === "string" && given.toLowerCase() === String(value))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads arguments that are not JSON: a command alone, or an object with line breaks in its strings. */
const repaired = (text: string): unknown => {
  const object = text.length > longest ? undefined : (parsed(text) ?? parsed(withEscapes(text)))
  if (object !== undefined && typeof object !== "string") return object
  const command = typeof object === "string" ? object : text
  return /^\s*[{["]/.test(command) ? parsed(command) : { command: command.trim() === "" ? undefined : command.trim() }
}

/** Escapes the line breaks and tabs in strings. */
const withEscapes = (json: string): string =>
  json.replace(/"(?:\\[\s\S]|[^"\\])*"/g, (each) =>
    each.replace(/[\n\r\t]/g, (char) => JSON.stringify(char).slice(1, -1))
  )
