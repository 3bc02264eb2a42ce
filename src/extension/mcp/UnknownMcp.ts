/**
 * Makes the errors for an MCP server and for a tool that do not exist: which are near, and how to see what there is.
 *
 * @since 0.1.0
 */
import * as Hint from "../../command/Hint.js"
import * as Advice from "../../domain/Advice.js"
import { CommandNotFound } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import * as McpFailure from "./McpFailure.js"

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
  const nearest = Similar.nearest(name, servers)
  return new CommandNotFound({
    command,
    reason: [
      `Unknown MCP server: ${ForeignText.word(name)} (in ${ForeignText.word(command)}).${meant(nearest)}`,
      servers.length === 0
        ? `No MCP server is configured: the user names them in ${McpFailure.fileOf("project", places)} or ${McpFailure.fileOf("home", places)}.`
        : `There are these MCP servers: ${listed(servers)}.`
    ].join("\n"),
    advice: [
      Advice.line`Hint: correct the name; ${Hint.help(ForeignText.word(command))} then shows how to use it.`,
      ...(servers.length === 0 ? [] : [Advice.line`${Advice.run("command:search")} lists what there is.`])
    ]
  })
}

/**
 * Makes the error for a tool that a server does not have.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tool = (server: string, name: string, tools: ReadonlyArray<string>): CommandNotFound =>
  new CommandNotFound({
    command: `mcp:${server}:${name}`,
    reason: [
      `The MCP server ${server} has no tool ${ForeignText.word(name)}.${meant(Similar.nearest(name, tools))}`,
      tools.length === 0 ? "It has no tools at all." : `It has these: ${listed(tools)}.`
    ].join("\n"),
    advice: tools.length === 0 ? [] : [Advice.line`Hint: ${Advice.run(`mcp:${server}`)} tells what they do.`]
  })

const meant = (name: string | undefined): string =>
  name === undefined ? "" : ` Did you mean ${ForeignText.word(name)}?`

const listed = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, most).map((name) => ForeignText.word(name))
  return names.length > most ? `${shown.join(", ")}, and ${names.length - most} more` : shown.join(", ")
}
