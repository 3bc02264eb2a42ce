/**
 * The error for registering two commands, tools or providers under one name.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The error for a name that is already taken.
 *
 * @since 0.1.0
 * @category errors
 */
export class DuplicateName extends Schema.TaggedError<DuplicateName>("synapse/DuplicateName")("DuplicateName", {
  kind: Schema.Literal("command", "tool", "provider"),
  name: Schema.String
}) {
  override get message() {
    return `there is already a ${this.kind} with the name ${this.name}`
  }
}
