/**
 * One sandbox, with the persistent shell in it.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { BashSession, ExecuteOptions } from "../session/BashSession.js"
import type { Denial } from "./denial/Denial.js"
import type { SandboxPolicy } from "./SandboxPolicy.js"

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
  /** Gives a right without losing the shell; fails where that can't be done, and a new sandbox is needed. */
  readonly grant: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
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
export const unsandboxed = (session: Context.Tag.Service<BashSession>): SandboxBackend => ({
  policy: undefined,
  execute: (command, options) =>
    Effect.map(session.execute(command, options), (result) => ({ ...result, blocked: false })),
  restart: session.restart,
  cwd: session.cwd,
  grant: () => Effect.void,
  revoke: () => Effect.void,
  dispose: session.restart
})
