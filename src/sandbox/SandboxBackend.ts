/**
 * One sandbox, with the persistent shell in it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { BashSession, ExecuteOptions } from "../session/BashSession.js"
import type { Denial } from "./denial/Denial.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"

/**
 * What came of a command. `blocked` where the policy denied something that it failed for, or would surely have met.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxResult extends CommandResult {
  readonly blocked: boolean
  /** What was denied; where it is known from the command's words alone (`how: "preflight"`), nothing was run. */
  readonly denial?: Denial
}

/**
 * A right that a person gave against the policy.
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly resource: string
  readonly access: "read" | "write"
}

/**
 * A right to write what does not exist.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotThere extends Schema.TaggedError<NotThere>("synapse/NotThere")("NotThere", {
  resource: Schema.String
}) {
  override get message() {
    return `${this.resource} does not exist, and only what exists can be allowed in a sandbox: ask the user to make it, or to allow its directory`
  }
}

/**
 * @since 0.1.0
 * @category models
 */
export interface SandboxBackend {
  /** Undefined where nothing is enforced. */
  readonly policy: SandboxPolicy | undefined
  /** Runs a command in the shell; what the policy denies is a result with `blocked`. */
  readonly execute: (command: string, options?: ExecuteOptions) => Effect.Effect<SandboxResult, CommandError>
  /** Ends the shell and all that it started. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory. */
  readonly cwd: Effect.Effect<string>
  /** Gives a right without losing the shell; fails with ExecutionFailed where only a new sandbox can have it. */
  readonly grant: (grant: Grant) => Effect.Effect<void, ExecutionFailed | NotThere>
  /** Takes it back. */
  readonly revoke: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
  /** Ends the session and the platform's resources. */
  readonly dispose: Effect.Effect<void>
}

/**
 * The session itself, with the rights of the user.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unsandboxed = (session: BashSession): SandboxBackend => ({
  policy: undefined,
  execute: (command, options) =>
    Effect.map(session.execute(command, options), (result) => ({ ...result, blocked: false })),
  restart: session.restart,
  cwd: session.cwd,
  grant: () => Effect.void,
  revoke: () => Effect.void,
  dispose: session.restart
})

/**
 * Runs with rights that are taken back afterwards, whatever came of it.
 *
 * @param keeping what to do about a sandbox that can't let go of one
 * @since 0.1.0
 */
export const withGrants = <A>(
  backend: SandboxBackend,
  grants: ReadonlyArray<Grant>,
  use: Effect.Effect<A, CommandError>,
  keeping: (grant: Grant) => Effect.Effect<void>
): Effect.Effect<A, CommandError> =>
  grants.reduceRight(
    (inner, grant) =>
      Effect.acquireUseRelease(
        Effect.catchTag(
          backend.grant(grant),
          "NotThere",
          ({ message }) => new ExecutionFailed({ cause: "sandbox", reason: message })
        ),
        () => inner,
        () => Effect.catchAllCause(backend.revoke(grant), () => keeping(grant))
      ),
    use
  )
