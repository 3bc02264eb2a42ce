/**
 * Names that are reserved for our commands, whether or not one is registered: no shell has a command of such a name.
 *
 * @since 0.1.0
 */

/**
 * The prefixes of reserved names.
 *
 * @since 0.1.0
 */
export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:", "command:"]

/**
 * Reserved names without a prefix.
 *
 * @since 0.1.0
 */
export const names: ReadonlyArray<string> = ["TodoWrite"]

/**
 * Tests whether a name is reserved.
 *
 * @since 0.1.0
 */
export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
