/**
 * The error for registering a command under a name that no command can have.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The error for an invalid command name: bash could not call it, or the shell needs the name itself. `reason` tells
 * why, and what is allowed.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidName extends Schema.TaggedError<InvalidName>("synapse/InvalidName")("InvalidName", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `no command can have the name ${JSON.stringify(this.name)}: ${this.reason}`
  }
}
