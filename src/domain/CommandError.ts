/**
 * Why a command did not run, or was stopped. Each error knows its message, its failure category and its exit code.
 *
 * An Effect program catches errors by their tag (`Effect.catchTag("CommandNotFound", …)`); a ToolReturn has the tag in
 * `extras.error` and the category in `extras.failureCategory`:
 *
 * | category            | tag               | exit code                    | a result has the category where                  |
 * | ------------------- | ----------------- | ---------------------------- | ------------------------------------------------ |
 * | `command_not_found` | `CommandNotFound` | 127                          | bash found no such command (exit code 127)       |
 * | `invalid_usage`     | `InvalidUsage`    | 1                            | a command of ours was used wrongly in a line     |
 * | `blocked`           | `Blocked`         | 126                          | the policy denied what the command failed for    |
 * | `execution_error`   | `ExecutionFailed` | 124 for a timeout, 1 else    | the command failed for any other reason          |
 *
 * A command that ran and failed is a CommandResult with an exit code, and no error: `extras.error` is not there then.
 * Interruption is no error either: it is fiber interruption, exit code 130, and has no category.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.js"

/**
 * The categories of failure that programs match on (`extras.failureCategory`); the table above has the error of each.
 *
 * @since 0.1.0
 * @category models
 */
export const FailureCategory = Schema.Literal("command_not_found", "invalid_usage", "blocked", "execution_error")

/**
 * One of the categories of failure.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureCategory = typeof FailureCategory.Type

/**
 * `command_not_found`: no such tool, agent-shell command or extension command. `reason` says which part is unknown and what there is.
 *
 * @since 0.1.0
 * @category errors
 */
export class CommandNotFound extends Schema.TaggedError<CommandNotFound>("synapse/CommandNotFound")("CommandNotFound", {
  command: Schema.String,
  reason: Schema.String
}) {
  readonly category: FailureCategory = "command_not_found"
  readonly exitCode: number = ExitCode.notFound
  override get message() {
    return this.reason
  }
}

/**
 * `invalid_usage`: a command or a tool was called wrongly. `reason` says what is wrong and what the right form is.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidUsage extends Schema.TaggedError<InvalidUsage>("synapse/InvalidUsage")("InvalidUsage", {
  reason: Schema.String
}) {
  readonly category: FailureCategory = "invalid_usage"
  readonly exitCode: number = ExitCode.failure
  override get message() {
    return this.reason
  }
}

/**
 * `blocked`: denied by the sandbox's policy. It says what was denied, and by which rule.
 *
 * @since 0.1.0
 * @category errors
 */
export class Blocked extends Schema.TaggedError<Blocked>("synapse/Blocked")("Blocked", {
  resource: Schema.String,
  rule: Schema.String,
  reason: Schema.String,
  /** What would be allowed, and whom to ask. */
  advice: Schema.optionalWith(Schema.String, { default: () => "" })
}) {
  readonly category: FailureCategory = "blocked"
  readonly exitCode: number = ExitCode.blocked
  override get message() {
    const said = `blocked by sandbox policy: ${this.resource} (rule ${this.rule}: ${this.reason})`
    return this.advice === "" ? said : `${said}\n${this.advice}`
  }
}

/**
 * `execution_error`: the shell died or could not start, a command ran out of its time, or reading and writing failed; `crash`: the shell died
 * before the command began, which can be tried again; `sandbox`: no sandbox could be had, so nothing was run.
 * `stdout` and `stderr` are what a command had put out by then.
 *
 * @since 0.1.0
 * @category errors
 */
export class ExecutionFailed extends Schema.TaggedError<ExecutionFailed>("synapse/ExecutionFailed")("ExecutionFailed", {
  cause: Schema.Literal("shell", "timeout", "io", "sandbox", "crash"),
  reason: Schema.String,
  stdout: Schema.optionalWith(Schema.String, { default: () => "" }),
  stderr: Schema.optionalWith(Schema.String, { default: () => "" }),
  notices: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
}) {
  readonly category: FailureCategory = "execution_error"
  get exitCode(): number {
    return this.cause === "timeout" ? ExitCode.timeout : ExitCode.failure
  }
  override get message() {
    return this.reason
  }
}

/**
 * It ran out of its time.
 *
 * @param timeout milliseconds
 * @param output what it had put out by then
 * @since 0.1.0
 * @category errors
 */
export const timedOut = (
  timeout: number,
  output: Partial<Pick<ExecutionFailed, "stdout" | "stderr" | "notices">> = {}
): ExecutionFailed =>
  new ExecutionFailed({
    cause: "timeout",
    reason: `Command execution timeout: it ran longer than ${timeout} ms and was ended`,
    ...output
  })

/**
 * Everything a command can fail with.
 *
 * @since 0.1.0
 * @category models
 */
export type CommandError = CommandNotFound | InvalidUsage | Blocked | ExecutionFailed
