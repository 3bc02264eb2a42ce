/** Splits the names of MCP commands, and writes them as words for a shell. */
import * as ShellText from "../../bash/ShellText.js"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import type { CommandNotFound } from "../../domain/CommandError.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as FileFailure from "../../files/FileFailure.js"

const longestServerName = 64

/** Returns why a name can't be a server's. */
export const refusal = (name: string): string | undefined => {
  if (name === "") return "its name is empty"
  if (name.length > longestServerName) return `its name is longer than ${longestServerName} characters`
  if (name === "__proto__") return "its name means something else to programs"
  if (/^[A-Za-z0-9_][\w.-]*$/.test(name)) return undefined
  return "its name can't be part of a command: it is made of letters, digits and _ . -, and begins with no . or -"
}

/** The parts of `mcp:<server>:<tool>`, empty if missing. A tool's name may be any text. */
export interface Name {
  readonly server: string
  readonly tool: string
}

export const parse = (command: string): Name => {
  const [, server = "", tool = ""] = /^mcp:([^:]*):?([\s\S]*)$/.exec(command) ?? []
  return { server, tool }
}

/**
 * Returns the name of a tool's command. A slash becomes a colon, because a shell takes a name with a slash for a path.
 */
export const ofTool = (server: string, tool: string): string => `mcp:${server}:${tool.replaceAll("/", ":")}`

/** Finds the tool with this name, or else the one whose command is the same. */
export const find = <Tool extends { readonly name: string }>(
  { server, tool }: Name,
  tools: ReadonlyArray<Tool>
): Tool | undefined => {
  const command = ofTool(server, tool)
  return tools.find(({ name }) => name === tool) ?? tools.find(({ name }) => ofTool(server, name) === command)
}

export const unknownTool = (
  command: string,
  { server, tool }: Name,
  tools: ReadonlyArray<{ readonly name: string }>
): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "MCP tool",
    kinds: `tools of ${UntrustedText.word(server)}`,
    name: tool,
    known: tools.map(({ name }) => name),
    toWord: (name) => toWord(server, name),
    advice: tools.length === 0 ? [] : [Advice.line`${Advice.run(toWord(server))} lists its tools.`]
  })

/** The longest name that is written whole, in characters. */
const longest = 500

/** Writes the name of a server's or a tool's command as a word for a shell in which every character is visible. */
export const toWord = (server: string, tool?: string): string => {
  const command = tool === undefined ? `mcp:${server}` : ofTool(server, tool)
  if (command.length > longest) return UntrustedText.word(command)
  if (UntrustedText.word(command, longest) === command) return FileFailure.toWord(command)
  return `$'${Array.from(command, escaped).join("")}'`
}

const escaped = (char: string): string => {
  if (char === "'" || char === "\\") return `\\${char}`
  if (UntrustedText.word(char) === char) return char
  return Array.from(ShellText.encode(char), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
}
