/**
 * The backend of a sandbox: the persistent shell in it, and the grants that are given to it.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import type { BashSession, Execute as ExecuteInShell, ExecuteOptions } from "../session/BashSession.js"
import type { Denial } from "./denial/Denial.js"
import type { Hosts } from "./policy/HostEntry.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"

/**
 * The result of a command in a sandbox. `blocked` is true where the command failed for something that the policy
 * denied, or was not run because it would surely have met such a denial.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxResult extends CommandResult {
  readonly blocked: boolean
  /** The denial; where the command's words alone tell it (`how: "preflight"`), the command was not run. */
  readonly denial?: Denial
}

/**
 * A right that a person gave against the policy: to read or to write one resource.
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly resource: string
  readonly access: "read" | "write"
  /** True for a file that is missing, and made before it is given. */
  readonly isNew?: true
  /** The identity (`HostPath.identityOf`) of the file that was asked for: no other is given. */
  readonly identity?: string | undefined
}

/**
 * Asks a person whether a command may reach a host at a port, and gives it to the sandbox where that is allowed.
 *
 * @since 0.1.0
 * @category models
 */
export type AskForHost = (host: string, port: number, command: string) => Effect.Effect<boolean>

/**
 * The error for a right to write a path that does not exist: only what exists can be mounted.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotThere extends Data.TaggedError("NotThere")<{ readonly resource: string }> {
  override get message() {
    return `${this.resource} does not exist, and only what exists can be allowed in a sandbox`
  }
}

/**
 * Runs a command in a sandbox's shell; a denial by the policy is a result with `blocked`, never an error.
 *
 * @since 0.1.0
 * @category models
 */
export type Execute = (command: string, options?: ExecuteOptions) => Effect.Effect<SandboxResult, CommandError>

/**
 * A sandbox that a provider has made, with one persistent shell.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxBackend {
  /** The policy that it enforces; undefined where it enforces nothing. */
  readonly policy: SandboxPolicy | undefined
  /** Runs a command when its turn has come: one at a time, in the order of the calls. */
  readonly execute: Execute
  /**
   * Gives a grant without losing the shell; fails with ExecutionFailed where only a new sandbox can have it. Without
   * it, nothing is denied.
   */
  readonly grant?: (grant: Grant) => Effect.Effect<void, ExecutionFailed | NotThere>
  /**
   * Changes the hosts that commands may reach, while they run too; undefined stands for none. With `ask`, commands wait for an
   * answer about a host that no entry names.
   */
  readonly setHosts?: (hosts: Hosts | undefined, ask: AskForHost | undefined) => Effect.Effect<void>
  /** Revokes a grant. */
  readonly revoke?: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
  /** Runs with all that runs in the background stopped, so that it has no part in grants that are revoked afterwards. */
  readonly alone?: <A, E>(use: Effect.Effect<A, E>) => Effect.Effect<A, E | ExecutionFailed>
  /** Ends the shell and all that it started; the next command starts a new one. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory. */
  readonly cwd: Effect.Effect<string>
  /** Sets `$?` of the next command, after a command that ran without the shell. */
  readonly setStatus?: ((status: number) => Effect.Effect<void>) | undefined
  /** Ends the session, and releases the platform's resources. */
  readonly dispose: Effect.Effect<void>
}

/**
 * Adds the span of a command's run in a sandbox, where a tracer is present.
 *
 * @since 0.1.0
 * @internal
 */
export const executed = Span.within("SandboxBackend.execute")

const nothingBlocked =
  (execute: ExecuteInShell): Execute =>
  (command, options) =>
    executed(Effect.map(execute(command, options), (result) => ({ ...result, blocked: false })))

/**
 * Makes a backend over a session that enforces nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unsandboxed = (session: Context.Tag.Service<BashSession>): Omit<SandboxBackend, "dispose"> => ({
  policy: undefined,
  execute: nothingBlocked(session.execute),
  restart: session.restart,
  cwd: session.cwd,
  setStatus: session.setStatus
})

/**
 * Runs `use` with grants that are revoked afterwards, however it ends. A grant that can't be given fails with
 * ExecutionFailed.
 *
 * @param keeping handles a sandbox that can't revoke a grant
 * @since 0.1.0
 * @category combinators
 */
export const withGrants = <A>(
  { grant: give, revoke }: SandboxBackend,
  grants: ReadonlyArray<Grant>,
  use: Effect.Effect<A, CommandError>,
  keeping: (grant: Grant) => Effect.Effect<void>
): Effect.Effect<A, CommandError> =>
  grants.reduceRight(
    (inner, grant) =>
      Effect.acquireUseRelease(
        Effect.catchTag(
          give?.(grant) ?? Effect.void,
          "NotThere",
          (error) => new ExecutionFailed({ kind: "sandbox", reason: error.message, cause: error })
        ),
        () => inner,
        () => Effect.catchAllCause(revoke?.(grant) ?? Effect.void, () => keeping(grant))
      ),
    use
  )
