/** The bridge as the session sees it, over whatever runs the commands. */
import type * as Context from "effect/Context"
import { quote } from "../../bash/Quote.js"
import * as ReservedName from "../../command/ReservedName.js"
import type { ShellBridge } from "../../session/ShellBridge.js"
import type { BridgeCommands } from "./BridgeCall.js"
import * as CallServer from "./CallServer.js"
import * as Stub from "./Stub.js"

/**
 * Returns bash text which calls a command that bash did not find, and returns, where its name is one of ours or
 * reserved for them.
 */
const onNotFound = (commands: BridgeCommands): string => {
  const prefixes = new Set([...ReservedName.prefixes, ...commands.prefixed().map(({ name }) => name.slice(0, -1))])
  const patterns = [...Array.from(prefixes, (prefix) => `${quote(prefix)}*`), ...ReservedName.names.map(quote)]
  const isOurs = patterns.map((pattern) => `$1 == ${pattern}`).join(" || ")
  return `if [[ ${isOurs} ]]; then __synapse_call "$@"; \\builtin return; fi`
}

/** Returns bash text which puts the commands' programs before all others in the PATH. */
const enterPath = (directory: string): string => `PATH=${quote(`${directory}/${Stub.names.programs}`)}\${PATH:+:$PATH}`

/**
 * Returns bash text which replaces the programs of another session directory in the PATH, unless they were removed from
 * it.
 */
const changePath = (from: string, to: string): string =>
  `PATH=\${PATH/${quote(`${from}/${Stub.names.programs}`)}/${quote(`${to}/${Stub.names.programs}`)}}`

export const make = (commands: BridgeCommands): Context.Tag.Service<ShellBridge> => ({
  fifos: CallServer.fifos,
  open: (directory, around) => new CallServer.CallServer(directory, commands, around),
  definitions: (directory) => Stub.functions(directory, commands.names()),
  enterPath,
  changePath,
  onNotFound: () => onNotFound(commands),
  takeEnding: commands.takeEnding,
  takeImages: commands.takeImages
})
