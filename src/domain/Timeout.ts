/** The limits on timeouts. */

/**
 * The longest time that a timer of Node's can hold, in milliseconds, and so the longest timeout of a command: some 24
 * days.
 */
export const longest = 2 ** 31 - 1

/** The time in milliseconds that a line which names a task for a sub-agent may take, where its call gives none. */
export const ofTasks = 30 * 60_000
