/**
 * Two things of one kind under one name: refused where they are put together, so that no call goes to the wrong one.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Fails where a name is taken already.
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
