/**
 * How a shell finds the commands of ours: in its PATH, and where it finds nothing else.
 *
 * @since 0.1.0
 */
import { quote } from "../bash/Quote.js"
import * as ReservedName from "../command/ReservedName.js"
import type { BridgeCommands } from "./BridgeCommands.js"
import * as Stub from "./Stub.js"

/**
 * Calls a command that bash did not find, and returns, where its name is one of ours or reserved for them.
 *
 * @since 0.1.0
 * @category texts
 */
export const onNotFound = (commands: BridgeCommands): string => {
  const prefixes = new Set([...ReservedName.prefixes, ...commands.prefixes()])
  const patterns = [...Array.from(prefixes, (prefix) => `${quote(prefix)}*`), ...ReservedName.names.map(quote)]
  const isOurs = patterns.map((pattern) => `$1 == ${pattern}`).join(" || ")
  return `if [[ ${isOurs} ]]; then __synapse_call "$@"; \\builtin return; fi`
}

/**
 * Programs of the PATH are found before all others.
 *
 * @since 0.1.0
 * @category texts
 */
export const enterPath = (directory: string): string =>
  `PATH=${quote(`${directory}/${Stub.names.programs}`)}\${PATH:+:$PATH}`

/**
 * The same, for a shell that has another directory's in its PATH, unless it has taken it out.
 *
 * @since 0.1.0
 * @category texts
 */
export const changePath = (from: string, to: string): string =>
  `PATH=\${PATH/${quote(`${from}/${Stub.names.programs}`)}/${quote(`${to}/${Stub.names.programs}`)}}`
