/**
 * One sandbox, with the persistent shell in it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type CommandError, ExecutionFailed } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Span from "../domain/Span.js"
import type { BashSession, Execute as ExecuteInShell, ExecuteOptions } from "../session/BashSession.js"
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
 * Runs a command in a sandbox's shell; what the policy denies is a result with `blocked`.
 *
 * @since 0.1.0
 * @category models
 */
export type Execute = (command: string, options?: ExecuteOptions) => Effect.Effect<SandboxResult, CommandError>

/**
 * What can be done in a sandbox while no other command runs in it.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxTurn {
  readonly execute: Execute
  /** Gives a right without losing the shell; fails with ExecutionFailed where only a new sandbox can have it. */
  readonly grant: (grant: Grant) => Effect.Effect<void, ExecutionFailed | NotThere>
  /** Takes it back. */
  readonly revoke: (grant: Grant) => Effect.Effect<void, ExecutionFailed>
}

/**
 * A sandbox that a provider has made.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxBackend {
  /** Undefined where nothing is enforced. */
  readonly policy: SandboxPolicy | undefined
  /** Runs a command when its turn has come: one at a time, in the order of the calls. */
  readonly execute: Execute
  /**
   * Takes one turn in the line of the commands, and holds it while `use` runs. What `use` is given must not be used after
   * that, and nothing else of the backend within it.
   */
  readonly exclusive: <A, E>(use: (turn: SandboxTurn) => Effect.Effect<A, E>) => Effect.Effect<A, E | ExecutionFailed>
  /** Ends the shell and all that it started. */
  readonly restart: Effect.Effect<void>
  /** The shell's current directory. */
  readonly cwd: Effect.Effect<string>
  /** Ends the session and the platform's resources (in the specification's words, `session.kill` and `platform.cleanup`). */
  readonly dispose: Effect.Effect<void>
}

/**
 * Makes a span of a command's run in a sandbox, where somebody traces.
 *
 * @internal
 */
export const executed = Span.within("SandboxBackend.execute")

const nothingBlocked =
  (execute: ExecuteInShell): Execute =>
  (command, options) =>
    executed(Effect.map(execute(command, options), (result) => ({ ...result, blocked: false })))

/**
 * Makes a backend that enforces nothing: the session itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unsandboxed = (session: BashSession): Omit<SandboxBackend, "dispose"> => ({
  policy: undefined,
  execute: nothingBlocked(session.execute),
  exclusive: (use) =>
    session.exclusive((execute) =>
      use({ execute: nothingBlocked(execute), grant: () => Effect.void, revoke: () => Effect.void })
    ),
  restart: session.restart,
  cwd: session.cwd
})

/**
 * Runs with rights that are taken back afterwards, whatever came of it.
 *
 * @param keeping what to do about a sandbox that can't let go of one
 * @since 0.1.0
 * @category combinators
 */
export const withGrants = <A>(
  turn: SandboxTurn,
  grants: ReadonlyArray<Grant>,
  use: Effect.Effect<A, CommandError>,
  keeping: (grant: Grant) => Effect.Effect<void>
): Effect.Effect<A, CommandError> =>
  grants.reduceRight(
    (inner, grant) =>
      Effect.acquireUseRelease(
        Effect.catchTag(
          turn.grant(grant),
          "NotThere",
          ({ message }) => new ExecutionFailed({ cause: "sandbox", reason: message })
        ),
        () => inner,
        () => Effect.catchAllCause(turn.revoke(grant), () => keeping(grant))
      ),
    use
  )
