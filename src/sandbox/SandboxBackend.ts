/**
 * The backend of a sandbox: its persistent shell, and the grants given to it.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import type { ExecuteOptions } from "../session/BashSession.js"
import type { Denial } from "./denial/Denial.js"
import type { Hosts } from "./policy/HostEntry.js"
import type { SandboxPolicy } from "./policy/SandboxPolicy.js"

/**
 * The result of a command in a sandbox. `blocked` is true if the policy made it fail, or if it was not run because the
 * policy would surely have denied something.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxResult extends CommandResult {
  readonly blocked: boolean
  /** The denial. With `how: "preflight"`, the command's words alone showed it, and the command was not run. */
  readonly denial?: Denial
}

/**
 * Permission from a person, against the policy, to read or write one resource.
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly resource: string
  readonly access: "read" | "write"
  /** True for a missing file, which is created before it is granted. */
  readonly isNew?: true
  /**
   * The identity (`HostPath.identityOf`) of the file that the person was asked about. Another file in its place is not
   * granted.
   */
  readonly identity?: string | undefined
}

/**
 * Asks a person about hosts and ports.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkQuestions {
  /**
   * Asks whether a command may reach a host at a port, and opens the host to the sandbox if allowed. `privately` says
   * that the host's name leads to an address which is not public.
   */
  readonly reach: (command: string, host: string, port: number, privately?: string) => Effect.Effect<boolean>
  /** Asks whether a server that listens at a port of the sandbox may be opened on the machine. */
  readonly open: (port: number, command: string) => Effect.Effect<boolean>
}

/**
 * The error for a write grant on a missing path: only what exists can be mounted.
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
 * Runs a command in a sandbox's shell. A denial by the policy is a result with `blocked`, never an error.
 *
 * @since 0.1.0
 * @category models
 */
export type Execute = (command: string, options?: ExecuteOptions) => Effect.Effect<SandboxResult, CommandError>

/**
 * A sandbox made by a provider, with one persistent shell.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxBackend {
  /** The policy that the sandbox enforces; undefined if it enforces nothing. */
  readonly policy: SandboxPolicy | undefined
  /** Runs a command when its turn has come: one at a time, in the order of the calls. */
  readonly execute: Execute
  /**
   * Gives a grant and keeps the shell. Fails with ExecutionFailed if only a new sandbox can have the grant. A backend
   * without this method denies nothing.
   */
  readonly grant?: (grant: Grant) => Effect.Effect<void, ExecutionFailed | NotThere>
  /**
   * Changes the hosts that commands may reach, also for running commands; undefined means none. With `ask`, commands
   * wait for an answer about a host that no entry names.
   */
  readonly setHosts?: (hosts: Hosts | undefined, ask: NetworkQuestions | undefined) => Effect.Effect<void>
  readonly revoke?: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
  /**
   * Runs an effect while all background processes are stopped, so that they cannot use grants that are revoked
   * afterwards.
   */
  readonly alone?: <A, E>(use: Effect.Effect<A, E>) => Effect.Effect<A, E | ExecutionFailed>
  /** Ends the shell and all that it started. The next command starts a new one. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory. */
  readonly cwd: Effect.Effect<string>
  /** Sets `$?` for the next command, after a command that ran without the shell. */
  readonly setStatus?: ((status: number) => Effect.Effect<void>) | undefined
  /** Ends the session and releases the platform's resources. */
  readonly dispose: Effect.Effect<void>
}

/**
 * Adds a span for a command's run in a sandbox, if a tracer is present.
 *
 * @since 0.1.0
 * @internal
 */
export const executed = Span.within("SandboxBackend.execute")

/**
 * Runs `use` with grants that are revoked afterwards, however it ends. Fails with ExecutionFailed if a grant can't be
 * given.
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
