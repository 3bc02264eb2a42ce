/** The error for settings, commands and lists of tasks that are invalid. */

/**
 * Thrown, or the reason of a rejected promise, where the program called Synapse wrongly. The message tells what is
 * wrong. A command of the program's own throws it where it was called wrongly itself.
 */
export class InvalidUsage extends Error {
  override readonly name = "InvalidUsage"
  readonly category = "invalid_usage"
}
