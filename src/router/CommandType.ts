/**
 * Where a command runs: the one place that decides it.
 *
 * @since 0.1.0
 */
import type { CommandLine } from "../bash/CommandLine.js"
import * as ReservedName from "../command/ReservedName.js"

/**
 * @since 0.1.0
 * @category models
 */
export type CommandType =
  /** In the shell. */
  | "native"
  /** In Synapse itself: `TodoWrite`, `task:<type>`, `skill:<name>`, `bash`, and every command that is registered. */
  | "agent-shell"
  /** In a server or a skill that Synapse talks to: `mcp:<server>:<tool>`, `skill:<name>:<tool>`. */
  | "extension"

const mcp = /^mcp:/
const skillTool = /^skill:[^:]+:./

/**
 * @param isRegistered whether there is a handler for a command's name
 * @since 0.1.0
 */
export const identifyCommandType = (line: CommandLine, isRegistered: (name: string) => boolean): CommandType => {
  const { name } = line
  if (name === "") return "native"
  if (mcp.test(name) || skillTool.test(name)) return "extension"
  if (ReservedName.isReserved(name)) return "agent-shell"
  // A quoted name is the shell's own, as it is for aliases: `\read`, `"bash"`.
  return line.command?.quoted === false && isRegistered(name) ? "agent-shell" : "native"
}
