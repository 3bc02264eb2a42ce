/**
 * Splits the names of MCP commands, and writes them as words for a shell.
 *
 * @since 0.1.0
 */
import * as FileFailure from "../../files/FileFailure.js"

/**
 * The parts of `mcp:<server>:<tool>`; an empty one is missing. A tool's name may be any text.
 *
 * @since 0.1.0
 * @category models
 */
export interface Name {
  readonly server: string
  readonly tool: string
}

/**
 * Splits a name.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (command: string): Name => {
  const [, server = "", tool = ""] = /^mcp:([^:]*):?([\s\S]*)$/.exec(command) ?? []
  return { server, tool }
}

/**
 * Writes the name of a server's command, or of a tool's, as a word for a shell.
 *
 * @since 0.1.0
 * @category printing
 */
export const toWord = (server: string, tool?: string): string =>
  FileFailure.toWord(tool === undefined ? `mcp:${server}` : `mcp:${server}:${tool}`)
