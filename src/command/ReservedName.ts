/**
 * Names that are ours whether anybody has registered them or not: no shell has a command of such a name.
 *
 * @since 0.1.0
 */

/**
 * What reserved names begin with.
 *
 * @since 0.1.0
 */
export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:"]

/**
 * The reserved names that stand for one command each.
 *
 * @since 0.1.0
 */
export const names: ReadonlyArray<string> = ["TodoWrite"]

/**
 * Tells whether a name is reserved.
 *
 * @since 0.1.0
 */
export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
