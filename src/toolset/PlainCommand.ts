/** Recognizes commands that the toolset and the router pass to the shell unchanged. */
import * as CommandLine from "../bash/CommandLine.js"
import * as CommandName from "../command/CommandName.js"
import { identifyCommandType } from "../router/CommandType.js"
import * as CommandText from "./internal/CommandText.js"

/**
 * Parses a text that only the shell runs, unless a program adds commands, and that leaves no job. Returns undefined for
 * any other text.
 */
export const read = (text: string): CommandLine.CommandLine | undefined => {
  // Tasks for sub-agents have a longer time limit.
  if (text.includes("task:")) return undefined
  const line = CommandLine.parse(text)
  if (CommandText.read(line, CommandName.isBuiltIn)._tag !== "Command") return undefined
  const isInBackground = line.tokens.some((token) => token._tag === "Operator" && token.value === "&")
  return !isInBackground && identifyCommandType(line, CommandName.isBuiltIn) === "native" ? line : undefined
}
