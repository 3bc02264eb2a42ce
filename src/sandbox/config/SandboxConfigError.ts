/**
 * The error for a configuration that yields no policy.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The error for a configuration that yields no policy, so that nothing may run. `origin` is the file or other source of
 * the flaw; `path` is the position in it, and may be empty. `isReadOnly` is true if the file could not be written
 * because its file system is read-only, as it is for commands.
 *
 * @since 0.1.0
 * @category errors
 */
export class SandboxConfigError extends Schema.TaggedError<SandboxConfigError>("synapse/SandboxConfigError")(
  "SandboxConfigError",
  {
    origin: Schema.String,
    path: Schema.String,
    reason: Schema.String,
    remedy: Schema.String,
    isReadOnly: Schema.optional(Schema.Boolean)
  }
) {
  override get message() {
    const { origin, path, reason, remedy } = this
    // The option already names the position, and its message needs no remedy.
    if (origin.startsWith("--") && path !== "") return `${origin}: ${reason}.`
    return `${origin}: ${path === "" ? "" : `${path}: `}${reason}. ${remedy}`
  }
}
