/** Names that are reserved for Synapse commands, whether or not one is registered. */

export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:", "command:", "job:"]

export const names: ReadonlyArray<string> = ["TodoWrite"]

/** The names of built-in commands that can stand in a shell line, in the registry's order. */
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

export const isBuiltIn = (name: string): boolean => name === "bash" || callable.includes(name) || isReserved(name)

export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
