/**
 * A setting, a command or a list of tasks that is wrong.
 *
 * @since 0.1.0
 */

/**
 * Thrown, or what a promise is rejected with, where the program called Synapse wrongly. The message says what is wrong.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidUsage extends Error {
  override readonly name = "InvalidUsage"
  readonly category = "invalid_usage"
}
