/**
 * The errors of a command that did not run, or that was stopped. Each has a message, a failure category and an exit
 * code.
 *
 * Effect programs catch errors by tag (`Effect.catchTag("CommandNotFound", …)`). A ToolReturn has the tag in
 * `extras.error` and the category in `extras.failureCategory`:
 *
 * | category            | tag               | exit code                    | a result has the category if                     |
 * | ------------------- | ----------------- | ---------------------------- | ------------------------------------------------ |
 * | `command_not_found` | `CommandNotFound` | 127                          | bash found no such command (exit code 127)       |
 * | `invalid_usage`     | `InvalidUsage`    | 1                            | a Synapse command in a line was used wrongly     |
 * | `blocked`           | `Blocked`         | 126                          | the policy denied an access that it needed       |
 * | `execution_error`   | `ExecutionFailed` | 124 for a timeout, else 1    | the command failed for any other reason          |
 *
 * A command that ran and failed is a CommandResult with an exit code, not an error: it has no `extras.error`.
 * Interruption is fiber interruption, not an error. It has exit code 130 and no category.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Advice from "./Advice.js"
import * as Diagnostic from "./Diagnostic.js"
import * as ErrorFields from "./ErrorFields.js"
import * as ExitCode from "./ExitCode.js"

/**
 * The categories of failure that programs match on (`extras.failureCategory`).
 *
 * @since 0.1.0
 * @category models
 */
export const FailureCategory = Schema.Literal("command_not_found", "invalid_usage", "blocked", "execution_error")

/**
 * A category of failure.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureCategory = typeof FailureCategory.Type

const advice = Schema.optionalWith(Schema.Array(ErrorFields.Advice), { default: () => [] })
const diagnostics = Schema.optionalWith(Schema.Array(ErrorFields.Diagnostic), { default: () => [] })

/**
 * `command_not_found`: no such tool, agent-shell command or extension command. `reason` tells which part of the name is
 * unknown, and which names exist.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandNotFound extends Schema.TaggedError<CommandNotFound>("synapse/CommandNotFound")("CommandNotFound", {
  command: Schema.String,
  reason: Schema.String,
  advice
}) {
  readonly category: FailureCategory = "command_not_found"
  readonly exitCode: number = ExitCode.notFound
  override get message(): string {
    return toText(this)
  }
}

/**
 * `invalid_usage`: a command or a tool was called wrongly. `reason` tells what is wrong and what the correct form is.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidUsage extends Schema.TaggedError<InvalidUsage>("synapse/InvalidUsage")("InvalidUsage", {
  reason: Schema.String,
  advice,
  /** True if the tool's parameters are wrong, rather than a command's. */
  ofCall: Schema.optionalWith(Schema.Literal(true), { exact: true })
}) {
  readonly category: FailureCategory = "invalid_usage"
  readonly exitCode: number = ExitCode.failure
  override get message(): string {
    return toText(this)
  }
}

/**
 * `blocked`: the sandbox's policy denied an access. The error names the resource, the rule and the reason.
 *
 * @since 0.1.0
 * @category errors
 */
export class Blocked extends Schema.TaggedError<Blocked>("synapse/Blocked")("Blocked", {
  /** The rule as it was written. If no written rule denied the access: the path, or the network. */
  resource: Schema.String,
  /** The denied path, if it differs from `resource`. */
  path: Schema.optionalWith(Schema.String, { exact: true }),
  rule: Schema.String,
  reason: Schema.String,
  advice,
  /** The sandbox's denial, as data. */
  denied: Schema.optionalWith(ErrorFields.Denial, { exact: true }),
  diagnostics
}) {
  readonly category: FailureCategory = "blocked"
  readonly exitCode: number = ExitCode.blocked
  override get message(): string {
    return [toText(this), ...this.diagnostics.map(Diagnostic.forModel)].join("\n")
  }
}

/**
 * `execution_error`: the command could not be run, or was stopped. `kind` says why:
 *
 * - `shell`: the shell died or could not start.
 * - `timeout`: the command took too long.
 * - `io`: reading or writing failed.
 * - `sandbox`: no sandbox could be built, so nothing was run.
 * - `crash`: the shell died before the command began, so the command can be retried.
 *
 * `stdout` and `stderr` are the output until then, with the same details as in a result.
 *
 * @since 0.1.0
 * @category errors
 */
export class ExecutionFailed extends Schema.TaggedError<ExecutionFailed>("synapse/ExecutionFailed")("ExecutionFailed", {
  kind: Schema.Literal("shell", "timeout", "io", "sandbox", "crash"),
  reason: Schema.String,
  advice,
  stdout: Schema.optionalWith(Schema.String, { default: () => "" }),
  stderr: Schema.optionalWith(Schema.String, { default: () => "" }),
  stdoutFile: Schema.optionalWith(Schema.String, { exact: true }),
  stderrFile: Schema.optionalWith(Schema.String, { exact: true }),
  kept: Schema.optionalWith(ErrorFields.KeptOutput, { exact: true }),
  order: Schema.optionalWith(ErrorFields.LineOrder, { exact: true }),
  diagnostics,
  /** The underlying error, for example the file system's. */
  cause: Schema.optional(Schema.Defect)
}) {
  readonly category: FailureCategory = "execution_error"
  get exitCode(): number {
    return this.kind === "timeout" ? ExitCode.timeout : ExitCode.failure
  }
  override get message(): string {
    return toText(this)
  }
}

/**
 * Makes the error of a command that exceeded its timeout.
 *
 * @param timeout milliseconds
 * @param output the output before the timeout
 * @since 0.1.0
 * @category errors
 */
export const timedOut = (
  timeout: number,
  output: Partial<
    Pick<ExecutionFailed, "stdout" | "stderr" | "stdoutFile" | "stderrFile" | "kept" | "order" | "diagnostics">
  > = {}
): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: `Command execution timeout: it ran longer than ${timeout} ms and was ended`,
    ...output
  })

/**
 * All errors of a command.
 *
 * @since 0.1.0
 * @category models
 */
export type CommandError = CommandNotFound | InvalidUsage | Blocked | ExecutionFailed

/**
 * Words an error for an audience: what went wrong, and below it what to do next. An error's `message` is worded for a
 * model.
 *
 * @since 0.1.0
 * @category destructors
 */
export const toText = (error: CommandError, audience: Advice.Audience = Advice.model): string => {
  if (error._tag === "Blocked" && error.denied !== undefined) return Diagnostic.forModel(error.denied)
  const what =
    error._tag === "Blocked"
      ? `blocked by sandbox policy: ${error.path ?? error.resource} (rule ${error.rule}: ${error.reason})`
      : error.reason
  return error.advice.length === 0 ? what : `${what}\n${Advice.render(error.advice, audience)}`
}
