/**
 * The limit on a command's timeout.
 *
 * @since 0.1.0
 */

/**
 * The longest timeout of a command, in milliseconds: what a timer can hold, some 24 days.
 *
 * @since 0.1.0
 */
export const longest = 2 ** 31 - 1
