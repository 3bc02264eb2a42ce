/** The longest timeout of a command in milliseconds, about 24 days. Node's timers can hold no more. */
export const longest = 2 ** 31 - 1

/** The default timeout in milliseconds of a line that names a sub-agent's task. */
export const ofTasks = 30 * 60_000
