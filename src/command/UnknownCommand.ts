/**
 * Makes the error for a command of ours that does not exist: which part of its name is unknown, and which names there
 * are.
 *
 * @since 0.1.0
 */
import * as Advice from "../domain/Advice.js"
import { CommandNotFound } from "../domain/CommandError.js"
import * as Hint from "./Hint.js"

/**
 * Makes the error for `mcp:<server>:<tool>` where no such server is configured.
 *
 * @since 0.1.0
 * @category constructors
 */
export const mcpServer = (command: string, servers: ReadonlyArray<string>): CommandNotFound =>
  unknown(command, `Unknown MCP server: ${part(command, 1)}`, "MCP servers", servers)

/**
 * Makes the error for `skill:<name>` and `skill:<name>:<tool>` where no such skill is installed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const skill = (command: string, skills: ReadonlyArray<string>): CommandNotFound =>
  unknown(command, `Unknown skill: ${part(command, 1)}`, "skills", skills)

/**
 * Makes the error for any other reserved name: `task:<type>`, `TodoWrite`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const command = (name: string, commands: ReadonlyArray<string>): CommandNotFound =>
  unknown(name, `Unknown command: ${name}`, "commands besides the shell's own", commands)

/**
 * Makes the error for a reserved name of any kind.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (name: string, commands: ReadonlyArray<string>): CommandNotFound =>
  name.startsWith("mcp:") ? mcpServer(name, []) : name.startsWith("skill:") ? skill(name, []) : command(name, commands)

const part = (command: string, index: number): string => command.split(":")[index] || "(no name)"

const unknown = (command: string, what: string, kind: string, known: ReadonlyArray<string>): CommandNotFound =>
  new CommandNotFound({
    command,
    reason: [
      `${what} (in ${command}).`,
      known.length === 0 ? `There are no ${kind}.` : `There are these ${kind}: ${known.join(", ")}.`
    ].join("\n"),
    advice: [Advice.line`Hint: correct the name; ${Hint.help(command)} then shows how to use it.`]
  })
