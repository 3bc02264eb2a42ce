/**
 * Names that are reserved for our commands, whether or not one is registered: no shell has a command of such a name.
 */

/** The prefixes of reserved names. */
export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:", "command:"]

/** Reserved names without a prefix. */
export const names: ReadonlyArray<string> = ["TodoWrite"]

/** Tests whether a name is reserved. */
export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
