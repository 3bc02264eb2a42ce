/**
 * Makes the errors for an MCP server and for a tool that do not exist: which are near, and how to see what there is.
 *
 * @since 0.1.0
 */
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import type { CommandNotFound } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { McpServer } from "./McpClient.js"
import * as McpName from "./McpName.js"
import * as McpPlaces from "./McpPlaces.js"

/**
 * Makes the error for a server that is not configured.
 *
 * @param files those that can't be read, for it may stand in one of them
 * @since 0.1.0
 * @category constructors
 */
export const server = (
  command: string,
  name: string,
  servers: ReadonlyArray<string>,
  places: McpPlaces.Places,
  files: ReadonlyArray<McpServer> = []
): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "MCP server",
    name,
    known: servers,
    toWord: (server) => UnknownCommand.withServer(command, name, server),
    none: `No MCP server is configured: the user names them in ${McpPlaces.fileOf("project", places)} or ${McpPlaces.fileOf("home", places)}.`,
    advice: (near) => [
      ...UnknownCommand.onServer(command, servers, near),
      ...(servers.length === 0 || near.length > 0
        ? []
        : [Advice.line`${Advice.run("command:search")} lists what there is.`]),
      ...files.map(({ name, problem = "" }) => Advice.line`${ForeignText.word(name, 300)} can't be used: ${problem}.`)
    ]
  })

/**
 * Makes the error for a tool that a server does not have.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tool = (command: string, { server, tool }: McpName.Name, tools: ReadonlyArray<string>): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "MCP tool",
    kinds: `tools of ${server}`,
    name: tool,
    known: tools,
    toWord: (name) => McpName.toWord(server, name),
    advice: tools.length === 0 ? [] : [Advice.line`${Advice.run(McpName.toWord(server))} lists its tools.`]
  })
