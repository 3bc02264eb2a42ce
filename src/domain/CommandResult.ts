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
  /** The path as the command was given it. */
  readonly path: string
  /** Its type by its content: `image/png`. */
  readonly mediaType: string
  /** The bytes of the file, in base64. */
  readonly base64: string
}

/**
 * The output and the exit code of a command, with further details.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandResult {
  /** Standard output, up to the output limit; a line of its own tells what was left out. */
  readonly stdout: string
  /** Standard error, up to the same limit. */
  readonly stderr: string
  readonly exitCode: number
  /** The order in which the lines of both came; by default, standard output comes first. */
  readonly order?: LineOrder
  /** Advice of a command of ours on what to do next; it is added to standard error. */
  readonly advice?: ReadonlyArray<Advice.Advice>
  /** The category of the failure, where the command itself knows it. */
  readonly category?: FailureCategory | undefined
  /** The exit codes of the parts of the last pipeline that it ran, where one before the last part failed. */
  readonly pipeline?: ReadonlyArray<number>
  /**
   * Tells that a sandbox without network refused packets of such a pipeline: its messages name a host that could not be
   * reached (`named`), only the counters tell it (`counted`), or it was a unix socket (`socket`).
   */
  readonly offline?: "named" | "counted" | "socket"
  /** True where the command ended the shell, perhaps before all of its text had run: by `exit`, or with errexit. */
  readonly left?: boolean
  /** The name of the command that bash did not find, where the command failed for that. */
  readonly notFound?: string
  /** The file that holds the whole standard output, where it was cut, or can't be shown whole. */
  readonly stdoutFile?: string
  /** The file that holds the whole standard error, in the same cases. */
  readonly stderrFile?: string
  /** The facts about the output that can't be shown whole. */
  readonly kept?: KeptOutput
  /** True where the command failed for something that the sandbox's policy denied. */
  readonly blocked?: boolean
  /** The denial, as data. */
  readonly denied?: Diagnostic.Denial
  /** The text about the denial for the model: what, by which rule, why, and what would be allowed. */
  readonly blockedReason?: string
  /** The rule that denied it, as it was written; where no written rule did, the path, or the network. */
  readonly blockedResource?: string
  readonly blockedRule?: string
  /** The hosts that it reached on the network, each with its port. */
  readonly hosts?: ReadonlyArray<string>
  /** The shell's directory after the command, where the command changed it. */
  readonly movedTo?: string
  /** False where it was cancelled before it began, so that it was not run. */
  readonly began?: false
  /** The jobs that it has left running, and those that have ended since the last result. */
  readonly jobs?: ReadonlyArray<JobStatus>
  /** Images for a caller that can show them to the model. */
  readonly images?: ReadonlyArray<Image>
  /** Notices about the shell itself: that it was restarted, and which state was lost. */
  readonly notices?: ReadonlyArray<string>
  readonly personal?: Personal
}

/**
 * Those of the notices that a person reads beside a command's output as well.
 *
 * @since 0.1.0
 * @category models
 */
export interface Personal {
  /** What the person has allowed after the command had run. */
  readonly allowed?: string
  /** Denials after which the command went on, and variables that the sandbox left out. */
  readonly denied?: string
  /** Changes to files that the person's own tools run, such as git's config, and which of them were undone. */
  readonly changed?: string
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
 * Fails with the typed error of a result that has the category of one, so that `Effect.catchTag` works for commands that
 * the shell ran as well. A command that ran and failed stays a result.
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
 * Makes the typed error of a result; undefined if it has the category of none.
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
 * Adds a result's advice to its standard error, worded for an audience.
 *
 * @since 0.1.0
 * @category combinators
 */
export const say = (result: CommandResult, audience: Advice.Audience): CommandResult => {
  if (result.advice === undefined || result.advice.length === 0) return result
  const { advice, ...said } = result
  return { ...said, stderr: `${said.stderr}${Advice.render(advice, audience)}\n` }
}
