/**
 * Makes the errors for an MCP server and for a tool that do not exist: which are near, and how to see what there is.
 *
 * @since 0.1.0
 */
import * as Hint from "../../command/Hint.js"
import * as Advice from "../../domain/Advice.js"
import { CommandNotFound } from "../../domain/CommandError.js"
import * as Similar from "../../domain/Similar.js"
import * as McpFailure from "./McpFailure.js"
import * as ServerText from "./ServerText.js"

/** The names that are listed; there is a command that shows all. */
const most = 20

/**
 * Makes the error for a server that is not configured.
 *
 * @since 0.1.0
 * @category constructors
 */
export const server = (
  command: string,
  name: string,
  servers: ReadonlyArray<string>,
  places: McpFailure.Places
): CommandNotFound => {
  const meant = Similar.likely(name, servers)
  const rest = command.startsWith(`mcp:${name}:`) ? command.slice(4 + name.length) : ""
  const within = rest === "" ? "" : ` (in ${ServerText.line(command)})`
  const unknown = `Unknown MCP server: ${ServerText.line(name)}${within}.`
  if (meant.length > 0) {
    const commands = meant.map((one) => ServerText.line(`mcp:${one}${rest}`))
    return new CommandNotFound({ command, reason: `${unknown} Did you mean ${commands.join(" or ")}?` })
  }
  return new CommandNotFound({
    command,
    reason: [
      unknown,
      servers.length === 0
        ? `No MCP server is configured: the user names them in ${McpFailure.fileOf("project", places)} or ${McpFailure.fileOf("home", places)}.`
        : `There are these MCP servers: ${listed(servers)}.`
    ].join("\n"),
    // The message of a tool call has this line; its output has it not.
    advice: [Advice.line`Hint: correct the name; ${Hint.help(ServerText.line(command))} then shows how to use it.`]
  })
}

/**
 * Makes the error for a tool that a server does not have.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tool = (server: string, name: string, tools: ReadonlyArray<string>): CommandNotFound => {
  const meant = Similar.likely(name, tools).map((one) => ServerText.line(`mcp:${server}:${one}`))
  const unknown = `The MCP server ${server} has no tool ${ServerText.line(name)}.`
  return new CommandNotFound({
    command: `mcp:${server}:${name}`,
    reason:
      meant.length > 0
        ? `${unknown} Did you mean ${meant.join(" or ")}?`
        : `${unknown}\n${tools.length === 0 ? "It has no tools at all." : `It has these: ${listed(tools)}.`}`,
    advice: tools.length === 0 ? [] : [Advice.line`Hint: ${Advice.run(`mcp:${server}`)} tells what they do.`]
  })
}

const listed = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, most).map((name) => ServerText.line(name))
  return names.length > most ? `${shown.join(", ")}, and ${names.length - most} more` : shown.join(", ")
}
