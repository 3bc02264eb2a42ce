/**
 * The exit codes that Synapse decides itself. All others are the command's own.
 *
 * @since 0.1.0
 */

/**
 * The exit code of a command that succeeded.
 *
 * @since 0.1.0
 */
export const success = 0

/**
 * The exit code of a command that could not run or was used wrongly.
 *
 * @since 0.1.0
 */
export const failure = 1

/**
 * The exit code for wrong usage of the `synapse` program itself.
 *
 * @since 0.1.0
 */
export const wrongUsage = 2

/**
 * The exit code of an agent that reached its limit of turns, tokens or budget.
 *
 * @since 0.1.0
 */
export const limitReached = 3

/**
 * The exit code of a command that exceeded its timeout, as with `timeout(1)`.
 *
 * @since 0.1.0
 */
export const timeout = 124

/**
 * The exit code of a command that the sandbox's policy denied.
 *
 * @since 0.1.0
 */
export const blocked = 126

/**
 * The exit code of a command that does not exist, as in POSIX shells.
 *
 * @since 0.1.0
 */
export const notFound = 127

/**
 * The exit code of a command that was interrupted: 128 + SIGINT.
 *
 * @since 0.1.0
 */
export const interrupted = 130

/**
 * The exit code of a program that was asked to end: 128 + SIGTERM.
 *
 * @since 0.1.0
 */
export const terminated = 143

/**
 * The exit code of a program whose reader has ended (SIGPIPE), as in `yes | head`.
 *
 * @since 0.1.0
 * @category constants
 */
export const brokenPipe = 141
