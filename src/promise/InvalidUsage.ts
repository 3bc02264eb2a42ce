/**
 * The error for settings, commands and lists of tasks that are invalid.
 *
 * @since 0.1.0
 */

/**
 * Thrown, or the reason of a rejected promise, where the program called Synapse wrongly. The message tells what is
 * wrong. A command of the program's own throws it where it was called wrongly itself.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidUsage extends Error {
  override readonly name = "InvalidUsage"
  readonly category = "invalid_usage"
}
