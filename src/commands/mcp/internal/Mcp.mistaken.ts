/** Recognizes what other tools' callers write for the arguments of a call, and says how it is written here. */
import * as Arguments from "../../../command/Arguments.js"
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { Described } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import { InvalidUsage } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as McpName from "../../../extension/mcp/McpName.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { ToolParameter } from "./Mcp.schema.js"

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
