/** Tells which texts the toolset and the router only pass on to the shell. */
import * as CommandLine from "../bash/CommandLine.js"
import * as ReservedName from "../command/ReservedName.js"
import { identifyCommandType } from "../router/CommandType.js"
import * as CommandText from "./internal/CommandText.js"

/**
 * Parses a text that, with only the commands that Synapse brings, goes to the shell as it is, and leaves nothing running;
 * undefined for any other.
 */
export const read = (text: string): CommandLine.CommandLine | undefined => {
  // Tasks for sub-agents get more time.
  if (text.includes("task:") || CommandText.read(text, ReservedName.isBuiltIn)._tag !== "Command") return undefined
  const line = CommandLine.parse(text)
  const isInBackground = line.tokens.some((token) => token._tag === "Operator" && token.value === "&")
  return !isInBackground && identifyCommandType(line, ReservedName.isBuiltIn) === "native" ? line : undefined
}
