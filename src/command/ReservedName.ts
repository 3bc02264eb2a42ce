/**
 * Names that are ours whether anybody has registered them or not: no shell has a command of such a name.
 *
 * @since 0.1.0
 */

/**
 * What they begin with.
 *
 * @since 0.1.0
 */
export const prefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:"]

/**
 * Those that are one name only.
 *
 * @since 0.1.0
 */
export const names: ReadonlyArray<string> = ["TodoWrite"]

/**
 * Whether a name is one of them.
 *
 * @since 0.1.0
 */
export const isReserved = (name: string): boolean =>
  names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
