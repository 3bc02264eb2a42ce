/**
 * What a model gets back for a tool call; and the one place where errors become results.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { CommandError, FailureCategory } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { ToolCall } from "../domain/ToolCall.js"

/**
 * The answer to a ToolCall.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolReturn {
  /** The `id` of the call that it answers. */
  readonly toolCallId: string
  readonly isError: boolean
  /** The text for the model: all that it needs to know. */
  readonly output: string
  /** How it went, in a sentence; for a failure, what it was and how to do better. */
  readonly message: string
  readonly extras: Extras
}

/**
 * What programs want to know; each field only where it applies.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extras {
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files that hold all of an output that was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  readonly notices?: ReadonlyArray<string>
  readonly failureCategory?: FailureCategory
  /** The kind of error, where the command did not run or was stopped. */
  readonly error?: CommandError["_tag"]
  /** Where the call itself was wrong: the tool's name as the call gave it. */
  readonly toolName?: string
  /** Why the arguments are not JSON, in the parser's words. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  readonly blockedResource?: string
  readonly blockedRule?: string
}

/**
 * What is known beside how a call ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExitOptions {
  /** What an interrupted command had put out. */
  readonly partial?: CommandResult.CommandResult | undefined
  /** What to tell the model about a result with a non-zero exit code. */
  readonly hint?: ((result: CommandResult.CommandResult) => string | undefined) | undefined
  /** What kind of failure that is, where the result alone does not tell. */
  readonly category?: ((result: CommandResult.CommandResult) => FailureCategory | undefined) | undefined
}

/**
 * Turns the end of a tool's run into what the model gets.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromExit = (
  call: Pick<ToolCall, "id" | "name">,
  exit: Exit.Exit<CommandResult.CommandResult, CommandError>,
  options: ExitOptions = {}
): ToolReturn => {
  if (exit._tag === "Success") {
    return exit.value.exitCode === ExitCode.success ? succeeded(call, exit.value) : failed(call, exit.value, options)
  }
  if (Cause.isInterruptedOnly(exit.cause)) return interrupted(call, options.partial ?? CommandResult.make())
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return error === undefined ? died(call, exit.cause) : fromError(call, error)
}

/**
 * The answer to a call that could not be made.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromError = (call: Pick<ToolCall, "id">, error: CommandError, extras: Extras = {}): ToolReturn => {
  const base = { exitCode: error.exitCode, failureCategory: error.category, error: error._tag, ...extras }
  switch (error._tag) {
    case "Blocked":
      return make(call, true, error.message, CommandResult.make(), {
        ...base,
        blocked: true,
        blockedReason: error.reason,
        blockedResource: error.resource,
        blockedRule: error.rule
      })
    case "ExecutionFailed":
      return make(call, true, error.message, error, { ...base, ...outputOf(error) })
    default:
      return make(call, true, error.message, CommandResult.make(), base)
  }
}

type Output = Omit<CommandResult.CommandResult, "exitCode">

const succeeded = (call: Pick<ToolCall, "id">, result: CommandResult.CommandResult) =>
  make(call, false, "Command executed successfully.", result, { exitCode: result.exitCode, ...outputOf(result) })

const failed = (call: Pick<ToolCall, "id">, result: CommandResult.CommandResult, options: ExitOptions) => {
  const { exitCode, notFound } = result
  const what = `Command failed with exit code ${exitCode}`
  const sentence = notFound === undefined ? `${what}.` : `${what}: ${notFound}: command not found.`
  if (result.blocked === true) {
    return make(call, true, `${sentence}\n${result.blockedReason}`, result, {
      exitCode,
      ...outputOf(result),
      failureCategory: "blocked",
      blocked: true,
      ...(result.blockedReason === undefined ? undefined : { blockedReason: result.blockedReason }),
      ...(result.blockedResource === undefined ? undefined : { blockedResource: result.blockedResource }),
      ...(result.blockedRule === undefined ? undefined : { blockedRule: result.blockedRule })
    })
  }
  const hint = options.hint?.(result)
  return make(call, true, hint === undefined ? sentence : `${sentence}\n${hint}`, result, {
    exitCode,
    ...outputOf(result),
    failureCategory: notFound === undefined ? (options.category?.(result) ?? "execution_error") : "command_not_found"
  })
}

const interrupted = (call: Pick<ToolCall, "id">, partial: CommandResult.CommandResult) =>
  make(call, true, "Command interrupted before it ended.", partial, {
    exitCode: ExitCode.interrupted,
    ...outputOf(partial),
    interrupted: true
  })

const died = (call: Pick<ToolCall, "id" | "name">, cause: Cause.Cause<unknown>) => {
  const defect = Cause.squash(cause)
  const reason = defect instanceof Error && defect.message !== "" ? defect.message : String(defect)
  return make(
    call,
    true,
    `The tool ${call.name} failed unexpectedly: ${reason}\nThis is an error of the tool, not of the call.`,
    CommandResult.make(),
    { exitCode: ExitCode.failure, failureCategory: "execution_error" }
  )
}

const outputOf = (output: Output): Extras => ({
  stdout: output.stdout,
  stderr: output.stderr,
  ...(output.stdoutFile === undefined ? undefined : { stdoutFile: output.stdoutFile }),
  ...(output.stderrFile === undefined ? undefined : { stderrFile: output.stderrFile }),
  ...(output.notices === undefined || output.notices.length === 0 ? undefined : { notices: output.notices })
})

const make = (
  call: Pick<ToolCall, "id">,
  isError: boolean,
  sentence: string,
  output: Output,
  extras: Extras
): ToolReturn => {
  const { notices, stderr, stdout } = output
  const message = notices === undefined || notices.length === 0 ? sentence : `${sentence}\n${notices.join("\n")}`
  const said = joined(stdout, stderr)
  const note = isError ? message : (notices ?? []).join("\n")
  const text = note === "" ? said : joined(said, note)
  return { toolCallId: call.id, isError, output: text === "" ? "(no output)" : text, message, extras }
}

/** The second text begins on a line of its own. */
const joined = (first: string, second: string): string =>
  first === "" || second === "" || first.endsWith("\n") ? first + second : `${first}\n${second}`
