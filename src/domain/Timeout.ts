/**
 * How long a command may take.
 *
 * @since 0.1.0
 */

/**
 * The longest time that a command may take, in milliseconds: what a timer can hold, some 24 days.
 *
 * @since 0.1.0
 */
export const longest = 2 ** 31 - 1
