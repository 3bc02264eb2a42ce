/**
 * The result of a tool call, for the model and for the program.
 *
 * @since 0.1.0
 */
import type * as Exit from "effect/Exit"
import * as Advice from "../domain/Advice.js"
import { type CommandError, type FailureCategory, toText } from "../domain/CommandError.js"
import * as CommandExit from "../domain/CommandExit.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as Ending from "./Ending.js"
import * as OutputText from "./OutputText.js"
import * as Remark from "./Remark.js"

/**
 * The result of a ToolCall.
 *
 * @since 0.1.0
 * @category models
 */
export interface ToolReturn {
  /** The `id` of the call. */
  readonly toolCallId: string
  readonly isError: boolean
  /** The text for the model, which holds all that it needs to know. */
  readonly output: string
  /**
   * A sentence on how the call ended, which repeats nothing of `output`; for a failure, how to see the usage of what failed,
   * where that is known. Of a call that no tool could take, it is the whole text.
   */
  readonly message: string
  readonly extras: Extras
}

/**
 * The details for programs; each field is present only where it applies.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extras {
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files that hold the whole output, where it was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  /** Images that the command showed, for callers that can give them to the model. */
  readonly images?: ReadonlyArray<CommandResult.Image>
  readonly notices?: ReadonlyArray<string>
  readonly failureCategory?: FailureCategory
  /** The tag of the error, where the command did not run or was stopped. */
  readonly error?: CommandError["_tag"]
  /** The tool's name as the call gave it, where the call itself was wrong. */
  readonly toolName?: string
  /** The parser's message, where the arguments are not JSON. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  readonly blockedResource?: string
  readonly blockedRule?: string
}

/**
 * The options of `fromExit`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExitOptions {
  /**
   * The reader of the result; a model by default. Anybody else has seen the output as it came, and is told by the message
   * alone what became of a command that did not end.
   */
  readonly audience?: Advice.Audience | undefined
  /** The output of an interrupted command until then. */
  readonly partial?: CommandResult.CommandResult | undefined
  /** Returns advice for the model on a result with a non-zero exit code. */
  readonly hint?: ((result: CommandResult.CommandResult) => string | undefined) | undefined
  /** The line on how the call ended; by default, a failure's exit code, or the error's own text. */
  readonly remark?: string | undefined
  /** Returns the category of a failure, where the result alone does not tell it. */
  readonly category?: ((result: CommandResult.CommandResult) => FailureCategory | undefined) | undefined
}

/**
 * Makes the result of a tool's run, however it ended.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromExit = (
  call: Pick<ToolCall, "id" | "name">,
  exit: Exit.Exit<CommandResult.CommandResult, CommandError>,
  options: ExitOptions = {}
): ToolReturn => {
  const { audience = Advice.model, partial = CommandResult.make() } = options
  return CommandExit.CommandExit.$match(CommandExit.fromExit(exit, `The tool ${call.name}`, audience, partial), {
    Completed: ({ result }) => {
      const said = CommandResult.say(result, audience)
      return said.exitCode === ExitCode.success ? succeeded(call, said, options) : failed(call, said, options)
    },
    Failed: ({ error }) => withError(call, error, messageOf(error, options), {}, options),
    Interrupted: ({ exitCode, text }) =>
      make(call, true, options.audience === undefined ? Ending.Ending.interrupted : text, text, partial, {
        exitCode,
        ...outputOf(partial),
        interrupted: true
      }),
    Died: ({ category, exitCode, text }) => {
      const said = `${text}\nThis is an error of the tool, not of the call.`
      return make(call, true, options.audience === undefined ? Ending.Ending.died : said, said, CommandResult.make(), {
        exitCode,
        failureCategory: category
      })
    }
  })
}

const messageOf = (error: CommandError, { audience }: ExitOptions): string =>
  audience === undefined ? Ending.ofError(error) : withRemedy(toText(error, audience))

/**
 * Makes the result of a call that no tool could take. `message` is the whole text: it is to be enough for a next call that
 * is right (S30, S46).
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromError = (call: Pick<ToolCall, "id">, error: CommandError, extras: Extras = {}): ToolReturn =>
  withError(call, error, withRemedy(toText(error)), extras)

const withError = (
  call: Pick<ToolCall, "id">,
  error: CommandError,
  message: string,
  extras: Extras,
  { audience = Advice.model, remark }: Pick<ExitOptions, "audience" | "remark"> = {}
): ToolReturn => {
  const base = { exitCode: error.exitCode, failureCategory: error.category, error: error._tag, ...extras }
  switch (error._tag) {
    case "Blocked":
      return make(call, true, message, remark ?? toText(error, audience), CommandResult.make(), {
        ...base,
        blocked: true,
        blockedReason: error.reason,
        blockedResource: error.resource,
        blockedRule: error.rule
      })
    case "ExecutionFailed":
      return make(call, true, message, remark ?? withRemedy(toText(error, audience)), error, {
        ...base,
        ...outputOf(error)
      })
    default: {
      const { others } = Ending.adviceOf(error)
      const text = others.length === 0 ? error.reason : `${error.reason}\n${Advice.render(others, audience)}`
      return make(call, true, message, text, CommandResult.make(), base)
    }
  }
}

/** Says what to do where the process had no file descriptor left, whichever part of it needed one. */
const withRemedy = (message: string): string =>
  /\bEMFILE\b/.test(message)
    ? `${message}\nThe program has used up its file descriptors: end background commands, or start it with a higher limit (ulimit -n 64, or more).`
    : message

/**
 * Leaves out what the rest of a result tells: the texts of the streams and the notices, which `output` holds, and a
 * message that stands in it, or says no more than `isError`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const brief = (result: Omit<ToolReturn, "toolCallId">): object => {
  const { extras, message, ...rest } = result
  const { notices: _notices, stderr: _stderr, stdout: _stdout, ...others } = extras
  const isTold = Ending.all.has(message) || rest.output.includes(message)
  return { ...rest, ...(isTold ? undefined : { message }), extras: others }
}

type Output = Omit<CommandResult.CommandResult, "exitCode">

const succeeded = (
  call: Pick<ToolCall, "id">,
  result: CommandResult.CommandResult,
  { remark = "" }: Pick<ExitOptions, "remark">
) =>
  make(call, false, Ending.Ending.succeeded, remark, result, {
    exitCode: result.exitCode,
    ...outputOf(result)
  })

const failed = (call: Pick<ToolCall, "id">, result: CommandResult.CommandResult, options: ExitOptions) => {
  const { exitCode, notFound } = result
  if (result.blocked === true) {
    const said = options.remark ?? result.blockedReason ?? "Blocked by the sandbox."
    return make(call, true, Ending.Ending.denied, `${Remark.status(exitCode)} ${said}`, result, {
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
  const message = hint === undefined ? Ending.Ending.failed : `${Ending.Ending.failed} ${hint}`
  return make(call, true, message, options.remark ?? Remark.status(exitCode), result, {
    exitCode,
    ...outputOf(result),
    failureCategory: notFound === undefined ? (options.category?.(result) ?? "execution_error") : "command_not_found"
  })
}

const outputOf = (output: Output): Extras => ({
  stdout: output.stdout,
  stderr: output.stderr,
  ...(output.stdoutFile === undefined ? undefined : { stdoutFile: output.stdoutFile }),
  ...(output.stderrFile === undefined ? undefined : { stderrFile: output.stderrFile }),
  ...(output.images === undefined ? undefined : { images: output.images }),
  ...(output.notices === undefined || output.notices.length === 0 ? undefined : { notices: output.notices })
})

const make = (
  call: Pick<ToolCall, "id">,
  isError: boolean,
  message: string,
  remark: string,
  output: Output,
  extras: Extras
): ToolReturn => {
  const { notices } = output
  const said = OutputText.of(output)
  const note = [...(remark === "" ? [] : [remark]), ...(notices ?? [])].join("\n")
  const text = note === "" ? said : OutputText.joined(said, note)
  return { toolCallId: call.id, isError, output: text === "" ? "(no output)" : text, message, extras }
}
