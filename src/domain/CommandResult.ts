/**
 * The result of a command that ran. A non-zero exit code is a result like any other.
 *
 * @since 0.1.0
 */

import * as Effect from "effect/Effect"
import * as Advice from "./Advice.js"
import { Blocked, CommandNotFound, type FailureCategory, InvalidUsage } from "./CommandError.js"
import type * as Diagnostic from "./Diagnostic.js"
import type { JobStatus } from "./JobStatus.js"
import type { KeptOutput, LineOrder } from "./KeptOutput.js"

/**
 * An image that a command shows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Image {
  /** The path as the command got it. */
  readonly path: string
  /** The type by its content: `image/png`. */
  readonly mediaType: string
  /** The file's bytes, in base64. */
  readonly base64: string
}

/**
 * The output and the exit code of a command, with further details.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandResult {
  /** Standard output, up to the output limit. A line in it tells how much was left out. */
  readonly stdout: string
  /** Standard error, up to the same limit. */
  readonly stderr: string
  readonly exitCode: number
  /** The order in which the lines of both streams came. By default, standard output comes first. */
  readonly order?: LineOrder
  /** Advice of a Synapse command on what to do next. `say` adds it to standard error. */
  readonly advice?: ReadonlyArray<Advice.Advice>
  /** The category of the failure, if the command itself knows it. */
  readonly category?: FailureCategory | undefined
  /** The exit codes of all parts of the last pipeline, if a part before the last one failed. */
  readonly pipeline?: ReadonlyArray<number>
  /** True if the command ended the shell, by `exit` or with errexit. The rest of its text may not have run. */
  readonly left?: boolean
  /** The name of the command that bash did not find. */
  readonly notFound?: string
  /** The file that holds the whole standard output, if the result shows only a part. */
  readonly stdoutFile?: string
  /** The file that holds the whole standard error, if the result shows only a part. */
  readonly stderrFile?: string
  /** Details about output that is not shown whole. */
  readonly kept?: KeptOutput
  /** True if the command failed because the sandbox's policy denied an access. */
  readonly blocked?: boolean
  /** The denial, as data. Without `blocked`, the command went on, or only a part of a pipeline failed. */
  readonly denied?: Diagnostic.Denial
  /** The denial in words for the model: what, by which rule, why, and what would be allowed. */
  readonly blockedReason?: string
  /** The rule as it was written. If no written rule denied the access: the path, or the network. */
  readonly blockedResource?: string
  readonly blockedRule?: string
  /** The hosts that the command reached, each with its port. */
  readonly hosts?: ReadonlyArray<string>
  /** The shell's new directory, if the command changed it. */
  readonly movedTo?: string
  /** False if the command was cancelled before it began, so that it did not run. */
  readonly began?: false
  /** The jobs that the command left running, and the jobs that ended since the last result. */
  readonly jobs?: ReadonlyArray<JobStatus>
  /** Images for a caller that can show them to the model. */
  readonly images?: ReadonlyArray<Image>
  /** Notices about the command, such as a new permission, a lost shell, or a setting that was taken back. */
  readonly diagnostics?: ReadonlyArray<Diagnostic.Diagnostic>
}

/**
 * Makes a result; by default, its output is empty and its exit code 0.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fields: Partial<CommandResult> = {}): CommandResult => ({
  stdout: "",
  stderr: "",
  exitCode: 0,
  ...fields
})

/**
 * Fails with the typed error of a result that has a failure category, so that `Effect.catchTag` also works for commands
 * that the shell ran. Any other non-zero exit code stays a result.
 *
 * @example
 * ```ts
 * import { BashRouter, CommandResult } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(BashRouter.BashRouter, ({ route }) => route("nosuch")).pipe(
 *   CommandResult.orFail,
 *   Effect.catchTag("CommandNotFound", ({ command }) => Effect.succeed(`no ${command}`))
 * )
 * ```
 * @since 0.1.0
 * @category combinators
 */
export const orFail = <E, R>(
  self: Effect.Effect<CommandResult, E, R>
): Effect.Effect<CommandResult, E | Blocked | CommandNotFound | InvalidUsage, R> =>
  Effect.flatMap(self, (result) => {
    const error = errorOf(result, { ...result, category: result.blocked === true ? "blocked" : result.category })
    return error === undefined ? Effect.succeed(result) : Effect.fail(error)
  })

/**
 * Makes the typed error of a result, or returns undefined if its failure has no category.
 *
 * @since 0.1.0
 * @internal
 */
export const errorOf = (
  { exitCode, stderr = "" }: { readonly exitCode?: number | undefined; readonly stderr?: string | undefined },
  told: Pick<CommandResult, "blockedReason" | "blockedResource" | "blockedRule" | "category" | "denied" | "notFound">
): Blocked | CommandNotFound | InvalidUsage | undefined => {
  const { blockedReason, blockedResource = "", blockedRule, category, denied, notFound } = told
  const reason = stderr.trim()
  if (exitCode === 0) return undefined
  if (category === "blocked") {
    return new Blocked({
      resource: blockedResource,
      rule: blockedRule ?? denied?.rule ?? blockedResource,
      reason: denied?.reason ?? blockedReason ?? reason,
      ...(denied === undefined ? undefined : { denied })
    })
  }
  if (category === "invalid_usage") return new InvalidUsage({ reason })
  return category === "command_not_found" || notFound !== undefined
    ? new CommandNotFound({ command: notFound ?? "", reason })
    : undefined
}

/**
 * Words a result's advice for an audience and adds it to standard error.
 *
 * @since 0.1.0
 * @category combinators
 */
export const say = (result: CommandResult, audience: Advice.Audience): CommandResult => {
  if (result.advice === undefined || result.advice.length === 0) return result
  const { advice, ...said } = result
  return { ...said, stderr: `${said.stderr}${Advice.render(advice, audience)}\n` }
}
