/**
 * Names that are reserved for our commands, whether or not one is registered: no shell has a command of such a name.
 */

/** The prefixes of reserved names. */
export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:", "command:", "job:"]

/** Reserved names without a prefix. */
export const names: ReadonlyArray<string> = ["TodoWrite"]

/** The exact names of the commands that Synapse brings and that are words of a shell line, in the registry's order. */
export const callable: ReadonlyArray<string> = [
  "TodoWrite",
  "apply_patch",
  "command:search",
  "edit",
  "job:list",
  "job:output",
  "job:screen",
  "job:send",
  "job:start",
  "job:stop",
  "job:wait",
  "read",
  "write"
]

/** Tests whether a name is that of a command that Synapse brings. */
export const isBuiltIn = (name: string): boolean => name === "bash" || callable.includes(name) || isReserved(name)

/** Tests whether a name is reserved. */
export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
