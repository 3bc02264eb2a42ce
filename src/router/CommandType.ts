/**
 * Decides whether the shell or Synapse itself runs a command. No other module decides this.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as CommandName from "../command/CommandName.js"

/**
 * The kind of a command, by what runs it.
 *
 * @since 0.1.0
 * @category models
 */
export type CommandType =
  /** Run by the shell. */
  | "native"
  /** Run by Synapse itself: `TodoWrite`, `task:<type>`, `skill:<name>`, `bash`, and every registered command. */
  | "agent-shell"
  /** Run by an MCP server or a skill: `mcp:<server>:<tool>`, `skill:<name>:<tool>`. */
  | "extension"

const mcp = /^mcp:/
const skillTool = /^skill:[^:]+:./

/**
 * Returns the type of a command, given as text or as a parsed line.
 *
 * @param isRegistered tests whether a command has a handler; by default, only reserved names have one
 * @since 0.1.0
 */
export const identifyCommandType = (
  command: string | CommandLine.CommandLine,
  isRegistered: (name: string) => boolean = () => false
): CommandType => {
  const line = typeof command === "string" ? CommandLine.parse(command) : command
  const { name } = line
  if (name === "") return "native"
  if (mcp.test(name) || skillTool.test(name)) return "extension"
  if (CommandName.isReserved(name)) return "agent-shell"
  // Quotes select the shell's own command, as they do with aliases: `\read`, `"bash"`.
  return line.command?.quoted === false && isRegistered(name) ? "agent-shell" : "native"
}
