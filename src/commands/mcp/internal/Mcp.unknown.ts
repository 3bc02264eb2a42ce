/** Makes the errors for names that mean no tool: which one they may mean. */
import * as CommandGrammar from "../../../command/CommandGrammar.js"
import type { Described } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import { CommandNotFound, InvalidUsage } from "../../../domain/CommandError.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Similar from "../../../domain/Similar.js"
import type { McpServer, McpTool } from "../../../extension/mcp/McpClient.js"
import * as McpName from "../../../extension/mcp/McpName.js"
import * as Mistaken from "./Mcp.mistaken.js"

/** The most tools that an error names. */
const mostNamed = 20

/** Makes the error for a tool that a server does not have. */
export const tool = (
  command: string,
  { server, tool }: McpName.Name,
  tools: ReadonlyArray<Pick<McpTool, "name">>
): CommandNotFound => {
  const names = tools.map(({ name }) => name)
  const meant = Similar.likely(tool, names)
  const shown = names.slice(0, mostNamed).map((name) => ForeignText.word(name))
  const left = names.length - shown.length
  return new CommandNotFound({
    command,
    reason: [
      `Unknown MCP tool: ${ForeignText.word(tool)} (in ${ForeignText.word(command, 200)}).`,
      names.length === 0
        ? `${ForeignText.word(server)} has no tools.`
        : meant.length === 0
          ? `${ForeignText.word(server)} has these tools: ${shown.join(", ")}${left > 0 ? `, and ${left} more` : ""}.`
          : `Did you mean ${meant.map((name) => McpName.toWord(server, name)).join(" or ")}?`
    ].join("\n"),
    advice: [Advice.line`${Advice.run(McpName.toWord(server))} lists them.`]
  })
}

/** Returns the server that a name without a tool begins with: `files` of `files.read`. */
export const serverOf = (written: string, servers: ReadonlyArray<McpServer>): string | undefined => {
  const usable = servers.flatMap(({ name, problem }) => (problem === undefined ? [name] : []))
  const begins = (name: string) => written.startsWith(name) && /^[._-]/.test(written.slice(name.length))
  return usable.find((name) => name === written) ?? usable.filter(begins).sort((a, b) => b.length - a.length)[0]
}

/** The most characters of a call that is written again. */
const longest = 200

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
  const call = [command, ...rest.map((word) => Mistaken.toWord(word) ?? "…")].join(" ")
  return call.length > longest ? `${command} …` : call
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
