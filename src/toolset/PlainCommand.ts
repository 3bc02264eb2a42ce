/** Tells which texts the toolset and the router only pass on to the shell. */
import * as CommandLine from "../bash/CommandLine.js"
import * as ReservedName from "../command/ReservedName.js"
import { identifyCommandType } from "../router/CommandType.js"
import * as CommandText from "./internal/CommandText.js"

/** Tests whether a text, with only the commands that Synapse brings, goes to the shell as it is, within the usual time. */
export const isPlain = (text: string): boolean =>
  // Tasks for sub-agents get more time.
  !text.includes("task:") &&
  CommandText.read(text, ReservedName.isBuiltIn)._tag === "Command" &&
  identifyCommandType(CommandLine.parse(text), ReservedName.isBuiltIn) === "native"
