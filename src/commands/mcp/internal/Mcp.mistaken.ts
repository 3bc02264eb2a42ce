/** Recognizes what other tools' callers write for the arguments of a call, and says how it is written here. */
import * as Either from "effect/Either"
import * as Arguments from "../../../command/Arguments.js"
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { Described } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import { CommandNotFound, InvalidUsage } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Similar from "../../../domain/Similar.js"
import type { McpServer, McpTool } from "../../../extension/mcp/McpClient.js"
import * as McpName from "../../../extension/mcp/McpName.js"
import * as FileFailure from "../../../files/FileFailure.js"
import * as Json from "../Mcp.json.js"
import { type CallableTool, isRecord, type ToolParameter } from "./Mcp.schema.js"

/** Returns the server that a name without a tool begins with: `files` of `files.read`. */
export const serverOf = (written: string, servers: ReadonlyArray<McpServer>): string | undefined => {
  const usable = servers.flatMap(({ name, problem }) => (problem === undefined ? [name] : []))
  const begins = (name: string) => written.startsWith(name) && /^[._-]/.test(written.slice(name.length))
  return usable.find((name) => name === written) ?? usable.filter(begins).sort((a, b) => b.length - a.length)[0]
}

/** The most characters of a call that is written again. */
const longestCall = 200

/**
 * Returns the call that was probably meant by a name in which the server or the tool is missing; undefined where no tool
 * or several may be meant.
 *
 * @param tools those of the server that the name has, or else those of all
 */
export const meant = (
  { server, tool }: McpName.Name,
  args: ReadonlyArray<string>,
  tools: ReadonlyArray<McpTool>
): string | undefined => {
  const isBehind = tools.some((one) => one.server === server)
  const [written = "", rest] = isBehind ? [args[0], args.slice(1)] : [server === "" ? tool : server, args]
  const names = (one: McpTool) => [one.name, ...[".", "_", "-"].map((sign) => `${one.server}${sign}${one.name}`)]
  const same = tools.filter((one) => names(one).includes(written))
  const likely = isBehind
    ? Similar.likely(
        written,
        tools.map(({ name }) => name)
      )
    : []
  const [found, ...more] = same.length > 0 ? same : tools.filter(({ name }) => likely.includes(name))
  if (found === undefined || more.length > 0) return undefined
  const command = McpName.toWord(found.server, found.name)
  const call = [command, ...rest.map((word) => toWord(word) ?? "…")].join(" ")
  return call.length > longestCall ? `${command} …` : call
}

/** Makes the error for a server that is not configured, where a tool has that name. */
export const server = (command: string, { server }: McpName.Name, meant: string): CommandNotFound =>
  new CommandNotFound({ command, reason: `Unknown MCP server: ${ForeignText.word(server)}. Did you mean ${meant}?` })

/** Makes the error for a name without a server, or for arguments behind one without a tool. */
export const incomplete = (
  { usage }: Pick<Described, "usage">,
  { server, tool }: McpName.Name,
  meant: string | undefined
): InvalidUsage => {
  const what = server === "" && tool !== "" ? "server" : "tool"
  const name = what === "server" ? `mcp::${ForeignText.word(tool)}` : McpName.toWord(server)
  if (meant !== undefined) {
    return new InvalidUsage({ reason: `${name}: it has no ${what} in its name: did you mean ${meant}?` })
  }
  return what === "tool"
    ? CommandGrammar.misuse({ name, usage }, "it has no tool in its name, so that it takes no arguments but --help.")
    : new InvalidUsage({
        reason: `${name}: it has no server in its name.`,
        advice: [Advice.line`Usage: ${Advice.typed(usage)}`, Advice.line`${Advice.run("mcp:")} lists the servers.`]
      })
}

/** The most characters of a call that is shown as it should be. */
const longest = 200

/** Writes a text as a word for a shell; undefined where it can't be shown as it is. */
export const toWord = (text: string): string | undefined => {
  if (text === "") return "''"
  if (text.length > longest || ForeignText.word(text, longest) !== text) return undefined
  // No file of that name.
  const [, dashes = "", rest = ""] = /^(-*)([\s\S]*)$/.exec(text) ?? []
  return `${dashes}${rest === "" ? "" : FileFailure.toWord(rest)}`
}

/** The names that other tools have for all arguments at once. */
const wholes = new Set(["args", "arguments", "data", "input", "params", "parameters", "payload"])

/**
 * Returns what is said of an option that no parameter has the name of, and that is given an object: `--args '{…}'`.
 */
export const whole = (option: string, value: string | undefined): string | undefined => {
  if (!wholes.has(option.replace(/^--?/, "")) || value === undefined || !/^\s*\{/.test(value)) return undefined
  const isJson = Either.isRight(Json.parse(value))
  return `Unknown option ${option}: write --json ${(isJson ? toWord(value) : undefined) ?? "'{…}'"}.`
}

/**
 * Returns what is said of words that are all `name=value`, as no shell's program takes its options.
 *
 * @param find finds the parameter of a name
 */
export const assignments = (
  words: ReadonlyArray<string>,
  find: (name: string) => ToolParameter | undefined
): string | undefined => {
  const meant: Array<string> = []
  for (const word of words) {
    const [, name = "", value = ""] = /^([A-Za-z_][\w-]*)=([\s\S]*)$/.exec(word) ?? []
    const parameter = find(name)
    if (parameter === undefined) return undefined
    const option = `--${ForeignText.word(parameter.name)}`
    const shown = toWord(value) ?? "…"
    meant.push(value === "" || value.startsWith("-") ? `${option}=${shown}` : `${option} ${shown}`)
  }
  if (meant.length === 0) return undefined
  const call = meant.join(" ")
  const what =
    words.length === 1 ? `${Arguments.quoted(words[0] as string)} is a value here` : "These words are values here"
  return `${what}, no ${words.length === 1 ? "name" : "names"}: write ${call.length > longest ? "--name <value> …" : call}; a value like this goes after --.`
}

/**
 * Returns what is said of a text after `--json` that is no JSON, but was one before the shell had read it, or names a
 * file.
 *
 * @param texts the text, and the words that stand beside it
 */
export const unquoted = (texts: ReadonlyArray<string>): string | undefined => {
  const [json = ""] = texts
  const file = /^@(.+)|^([^{["'\s]+\.json)$/s.exec(json)
  if (file !== null)
    return `--json takes no name of a file: write --json - <${toWord(file[1] ?? file[2] ?? "") ?? "file"}.`
  // Braces around a comma are alternatives to bash: `{"a":1,"b":2}` is the two words `a:1` and `b:2`.
  const key = /^\{?\s*([A-Za-z_][\w-]*)\s*:/.exec(json)?.[1]
  if (key === undefined || texts.some((text) => text.includes('"'))) return undefined
  return `--json: the shell took the quotes away. Put the JSON in single quotes: --json '{"${key.slice(0, 60)}": …}'.`
}

/** Returns what is said of an only word that may be all of the arguments, or the value of one. */
export const only = ({ parameters }: CallableTool, word: string): string | undefined => {
  const [first] = parameters
  if (first === undefined || !/^\s*\{/.test(word)) return undefined
  const parsed = Json.parse(word)
  if (Either.isLeft(parsed) || !isRecord(parsed.right)) return undefined
  const names = Object.keys(parsed.right)
  if (names.length === 0 || !names.every((name) => parameters.some((parameter) => parameter.name === name)))
    return undefined
  return `The only word may be all arguments, or the value of ${ForeignText.word(first.name)}: write --json '{…}' or --${ForeignText.word(first.name)}='{…}'.`
}

/** What others write for a switch, and the option that it means. */
const switched: Readonly<Record<string, string>> = { yes: "", on: "", no: "no-", off: "no-" }

/**
 * Returns what is said of a word behind an option that is on or off: `--deep yes`.
 *
 * @param isBeside true where the word stands by itself, so that it may be the value of another parameter
 */
export const onOff = ({ name }: ToolParameter, word: string | undefined, isBeside: boolean): string | undefined => {
  const no = Object.hasOwn(switched, word?.toLowerCase() ?? "") ? switched[word?.toLowerCase() ?? ""] : undefined
  if (no === undefined) return undefined
  const label = ForeignText.word(name)
  const other = isBeside ? `; where "${word}" is the value of another, write --${label} -- ${word}` : ""
  return `--${label} takes no "${word}": write --${no}${label}${other}.`
}
