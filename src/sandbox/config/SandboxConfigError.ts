/**
 * Why there is no policy.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Says that the policy can't be known, so nothing may run. `origin` is the file, or what else the flaw comes from; `path` is where in
 * it, and may be empty.
 *
 * @since 0.1.0
 * @category errors
 */
export class SandboxConfigError extends Schema.TaggedError<SandboxConfigError>("synapse/SandboxConfigError")(
  "SandboxConfigError",
  { origin: Schema.String, path: Schema.String, reason: Schema.String, remedy: Schema.String }
) {
  override get message() {
    return `${this.origin}: ${this.path === "" ? "" : `${this.path}: `}${this.reason}. ${this.remedy}`
  }
}
