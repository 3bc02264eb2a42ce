/**
 * The error for a name that no command can have, which is refused where the command is registered.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The error for a name that a command can't have: bash could not call it, or the shell needs the name itself. `reason`
 * tells why, and what is allowed.
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
