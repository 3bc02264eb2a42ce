/** Recognizes what other tools' callers write for the arguments of a call, and says how it is written here. */
import * as Either from "effect/Either"
import * as Arguments from "../../../command/Arguments.js"
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { Described } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as McpName from "../../../extension/mcp/McpName.js"
import * as FileFailure from "../../../files/FileFailure.js"
import * as Json from "../Mcp.json.js"
import { type CallableTool, isRecord, type ToolParameter } from "./Mcp.schema.js"

/** Makes the error for a name without a server, or for arguments behind one without a tool. */
export const incomplete = ({ usage }: Pick<Described, "usage">, { server, tool }: McpName.Name): InvalidUsage =>
  server === "" && tool !== ""
    ? new InvalidUsage({
        reason: `mcp::${ForeignText.word(tool)}: it has no server in its name.`,
        advice: [Advice.line`Usage: ${Advice.typed(usage)}`, Advice.line`${Advice.run("mcp:")} lists the servers.`]
      })
    : CommandGrammar.misuse(
        { name: McpName.toWord(server), usage },
        "it has no tool in its name, so that it takes no arguments but --help."
      )

/** The most characters of a call that is shown as it should be. */
const longest = 200

/** Writes a text as a word for a shell; undefined where it can't be shown as it is. */
const toWord = (text: string): string | undefined => {
  if (text === "") return "''"
  if (text.length > longest || ForeignText.word(text, longest) !== text) return undefined
  // No file of that name.
  const [, dashes = "", rest = ""] = /^(-*)([\s\S]*)$/.exec(text) ?? []
  return `${dashes}${rest === "" ? "" : FileFailure.toWord(rest)}`
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
