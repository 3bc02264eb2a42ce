/** Reads the arguments of a `Bash` call as models write them, and builds a correct call from a wrong one. */
import * as Predicate from "effect/Predicate"
import * as Quote from "../bash/Quote.js"
import * as Timeout from "../domain/Timeout.js"
import { parseJson, unwritable } from "./internal/Given.js"
import * as PatchText from "./internal/PatchText.js"

type Given = Readonly<Record<string, unknown>>

/** The command of a call that only restarts the shell. */
const nothing = ":"

const isCommandAlone = (given: Given): boolean => {
  for (const name in given) if (name !== "command") return false
  const { command } = given
  return typeof command === "string" && command !== ""
}

/**
 * Rewrites arguments whose meaning is certain: `cmd` for `command`, a timeout as a string, nulls, `restart` alone.
 * Leaves all others as they are, to be checked.
 */
export const prepare = (given: unknown): unknown => {
  // Half of a surrogate pair (`\ud800`) is looked for only in the call's own JSON, so a string that holds one is not
  // parsed here.
  const object = typeof given === "string" && !/\\ud[89a-f]/i.test(given) ? parseJson(given) : given
  if (!Predicate.isReadonlyRecord(object)) return given
  if (isCommandAlone(object)) return object
  const { cmd, run_in_background, ...read }: Record<string, unknown> = Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null)
  )
  const { command, restart } = read
  if (cmd !== undefined) read[command === undefined || command === cmd ? "command" : "cmd"] = cmd
  for (const name of ["timeout", "yield"]) {
    const value = read[name]
    if (typeof value === "string" && /^\d{1,10}$/.test(value)) read[name] = Number(value)
  }
  for (const value of [true, false]) if (isSaid(restart, value)) read["restart"] = value
  if ((isSaid(run_in_background, true) || read["yield"] === 0) && Predicate.isString(read["command"])) {
    read["command"] = inBackground(read["command"])
    delete read["yield"]
  } else if (run_in_background !== undefined && !isSaid(run_in_background, false))
    read["run_in_background"] = run_in_background
  const isBlank = read["command"] === undefined || (Predicate.isString(read["command"]) && !/\S/.test(read["command"]))
  if (isBlank && read["restart"] === true) read["command"] = nothing
  return read
}

/** Tests whether prepared arguments only ask for a new shell. */
export const isRestartAlone = ({ command, restart }: { readonly command: string; readonly restart?: boolean }) =>
  restart === true && command === nothing

export const form = '{"command":"<command>"}'

/**
 * The longest command, in characters, that a corrected call repeats. Bash reads the placeholder of a longer one as a
 * syntax error.
 */
const longest = 2000

/** Builds the JSON arguments of a correct call from a wrong call's. Returns undefined if they hold no command. */
export const example = (given: unknown): string | undefined => {
  const prepared = prepare(typeof given === "string" ? ofText(given) : given)
  const object: Given = Predicate.isReadonlyRecord(prepared) ? prepared : {}
  const { description, restart } = object
  const timeout = millisecondsIn(object, 1, "timeout", "timeout_ms", "timeoutMs")
  const yielded = millisecondsIn(object, 0, "yield", "yield_time_ms")
  const named = ["command", "script", "input", "Command"].map((name) => object[name])
  const text = toCommand(named.find((value) => value !== undefined && value !== nothing) ?? object["command"])
  if (text === undefined) return undefined
  const directory = object["cwd"] ?? object["workdir"]
  const there = typeof directory === "string" && directory !== "" ? inDirectory(directory, text) : text
  const line = isSaid(object["run_in_background"], true) ? inBackground(there) : there
  return JSON.stringify({
    command: line.length > longest ? "<command>" : line,
    ...(restart === true ? { restart } : undefined),
    ...(timeout === undefined ? undefined : { timeout }),
    ...(yielded === undefined ? undefined : { yield: yielded }),
    ...(typeof description === "string" && description.length < longest ? { description } : undefined)
  })
}

/** Returns the first named argument that is a whole number of milliseconds within the limits. */
const millisecondsIn = (given: Given, least: number, ...names: ReadonlyArray<string>): number | undefined =>
  names
    .map((name) => String(given[name]))
    .filter((text) => /^\d{1,10}$/.test(text))
    .map(Number)
    .find((value) => value >= least && value <= Timeout.longest)

/** Returns the command line of a text, or of a program and its arguments: `ls` for `["bash", "-lc", "ls"]`. */
export const toCommand = (given: unknown): string | undefined => {
  if (typeof given === "string")
    return given.trim() === "" || unwritable.test(given) ? undefined : PatchText.renamed(given)
  if (!Array.isArray(given) || given.length === 0 || !given.every((word) => typeof word === "string")) return undefined
  const words: ReadonlyArray<string> = given
  const [program = "", option = "", script] = words
  if (program === "apply_patch" && words.length === 2) {
    const patch = PatchText.find(option)
    if (patch?.isWhole === true && !unwritable.test(option)) return PatchText.toCommand(patch.patch)
  }
  const isScript = /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh)$/.test(program) && /^-l?c$/.test(option)
  if (isScript && words.length === 3) return toCommand(script)
  return words.some((word) => unwritable.test(word)) ? undefined : words.map(Quote.word).join(" ")
}

/** Matches a one-line pipeline without a comment, which `&&` or `&` can follow directly. */
const oneLine = /^(?:[^\n#;&<(|`]|\|(?!\|))*$/

/** Writes a command that runs in a directory without moving the shell there. */
export const inDirectory = (directory: string, command: string): string => {
  const cd = `cd ${directory.startsWith("-") ? "-- " : ""}${Quote.word(directory)} &&`
  return oneLine.test(command) ? `(${cd} ${command})` : `(${cd} {\n${command}\n})`
}

/** Appends `&`, in a group if the command needs one. */
export const inBackground = (given: string): string => {
  const command = given.trim()
  if (command === "" || /[^&]&$/.test(command)) return command
  return `${/^[\w ./:=@%+,-]*$/.test(command) ? command : `{\n${command}\n}`} &`
}

/** Tests whether a value is this boolean, or its name in a string. */
const isSaid = (given: unknown, value: boolean): boolean =>
  given === value || (typeof given === "string" && given.toLowerCase() === String(value))

/** Reads arguments that are not valid JSON as a command. */
const ofText = (text: string): unknown => {
  // Models leave line breaks and tabs in JSON strings unescaped.
  const escaped = (json: string) =>
    json.replace(/"(?:\\[\s\S]|[^"\\])*"/g, (each) =>
      each.replace(/[\n\r\t]/g, (char) => JSON.stringify(char).slice(1, -1))
    )
  const value = text.length > longest ? undefined : (parseJson(text) ?? parseJson(escaped(text)))
  if (value !== undefined && typeof value !== "string") return value
  const command = typeof value === "string" ? value : text
  return /^\s*[{["]/.test(command) ? undefined : { command: command.trim() }
}
