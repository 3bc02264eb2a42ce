/**
 * The exit codes that Synapse itself decides. Every other one is the command's own.
 *
 * @since 0.1.0
 */

/**
 * A command that did what it should.
 *
 * @since 0.1.0
 */
export const success = 0

/**
 * A command that could not run or was used wrongly.
 *
 * @since 0.1.0
 */
export const failure = 1

/**
 * Wrong usage of the `synapse` program itself.
 *
 * @since 0.1.0
 */
export const wrongUsage = 2

/**
 * A command that ran longer than its timeout, as `timeout(1)` says it.
 *
 * @since 0.1.0
 */
export const timeout = 124

/**
 * A command that the sandbox's policy denied.
 *
 * @since 0.1.0
 */
export const blocked = 126

/**
 * A command that does not exist, as POSIX shells say it.
 *
 * @since 0.1.0
 */
export const notFound = 127

/**
 * A command that was interrupted: 128 + SIGINT.
 *
 * @since 0.1.0
 */
export const interrupted = 130

/**
 * A program that was asked to end: 128 + SIGTERM.
 *
 * @since 0.1.0
 */
export const terminated = 143
