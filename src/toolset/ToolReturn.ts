/**
 * The result of a tool call, for the model and for the program.
 *
 * @since 0.1.0
 */

import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Struct from "effect/Struct"
import * as Advice from "../domain/Advice.js"
import * as BinaryText from "../domain/BinaryText.js"
import {
  type Blocked,
  type CommandError,
  type CommandNotFound,
  type FailureCategory,
  type InvalidUsage,
  toText
} from "../domain/CommandError.js"
import * as CommandExit from "../domain/CommandExit.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as JobStatus from "../domain/JobStatus.js"
import type { LineOrder, StreamName } from "../domain/KeptOutput.js"
import * as KeptOutput from "../domain/KeptOutput.js"
import * as TextCut from "../domain/TextCut.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as TerminalText from "./TerminalText.js"
import type { Diagnosis } from "./Tool.js"

/** Matches control characters, except tab and newline, and the replacement for bytes that are not UTF-8. */
const special = /[\0-\x08\x0b-\x1f\x7f-\x9f\ufffd]/

/** Tests for a short text without special characters, which is shown as it is. */
const isPlain = (text: string): boolean => text.length <= KeptOutput.longestLine && !special.test(text)

/** The shown lines of a stream: the first ones, the line that marks a gap (or an empty text), and the last ones. */
interface Part {
  readonly head: string
  readonly mark: string
  readonly tail: string
}

const newlinesIn = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

const linesOf = (text: string): Array<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

type Row = readonly [number: number, line: string]

/**
 * Numbers the shown lines of a stream.
 *
 * @param newlines how many newlines the stream's text has
 */
const rowsOf = ({ head, mark, tail }: Part, newlines: number): ReadonlyArray<Row> => {
  const lines = linesOf(head)
  // The line that the gap interrupts gets the same number as the mark.
  if (mark !== "") lines.push(`${head === "" || head.endsWith("\n") ? "" : `${lines.pop()}\n`}${mark}`)
  const below = newlines - newlinesIn(tail) + 1
  return [...lines.map((line, at): Row => [at + 1, line]), ...linesOf(tail).map((line, at): Row => [below + at, line])]
}

/** Merges the shown lines of both streams in their known order. */
const interleaved = (rows: Readonly<Record<StreamName, ReadonlyArray<Row>>>, order: LineOrder): string => {
  const counts = { stdout: 0, stderr: 0 }
  const at = { stdout: 0, stderr: 0 }
  const taken: Array<string> = []
  const take = (stream: StreamName, upTo: number) => {
    for (let row = rows[stream][at[stream]]; row !== undefined && row[0] <= upTo; row = rows[stream][++at[stream]]) {
      // Only the last line of a stream can lack a newline.
      if (taken.at(-1)?.endsWith("\n") === false) taken.push("\n")
      taken.push(row[1])
    }
  }
  for (const [stream, count] of order) {
    counts[stream] += count
    take(stream, counts[stream])
  }
  take("stdout", Number.POSITIVE_INFINITY)
  take("stderr", Number.POSITIVE_INFINITY)
  return taken.join("")
}

/**
 * Cuts lines that are longer than `KeptOutput.longestLine`, with a mark that says how much is missing.
 *
 * @param where the place of the whole output, said once; undefined if another mark says it
 */
const cutLines = (text: string, where?: string): string => {
  if (text.length <= KeptOutput.longestLine) return text
  let unsaid = where === undefined ? "" : `; ${where}`
  const cut = (line: string): string => {
    if (line.length <= KeptOutput.longestLine) return line
    const mark = (left: number) => `[… ${left} characters left out${unsaid} …]`
    const begin = TextCut.startOf(line, Math.max(0, KeptOutput.longestLine - mark(line.length).length))
    const said = mark(line.length - begin.length)
    unsaid = ""
    return begin + said
  }
  return text.split("\n").map(cut).join("\n")
}

/**
 * Returns the text of both streams, line by line in order of arrival if it is known; otherwise stdout, then stderr.
 * Leaves out long lines, binary parts, and the middle of output above the limit. A mark tells how much is missing, and
 * where all of it is.
 *
 * @since 0.1.0
 */
export const of = (output: Pick<CommandResult.CommandResult, "stdout" | "stderr" | "kept" | "order">): string => {
  const { kept } = output
  if (kept === undefined && output.order === undefined && isPlain(output.stdout) && isPlain(output.stderr))
    return joined(output.stdout, output.stderr)
  const limit = kept?.limit ?? KeptOutput.defaultLimit
  const stdout = shown(output.stdout, kept?.stdout)
  const stderr = shown(output.stderr, kept?.stderr)
  const first = cut(stdout, KeptOutput.roomBeside(lengthOf(stderr), limit))
  const second = cut(stderr, KeptOutput.roomBeside(lengthOf(stdout), limit))
  const textOf = ({ head, mark, tail }: Part): string => joined(head, `${mark}${tail}`)
  // The known order counts the lines as they were written. Cursor movements and binary parts change the lines that are
  // shown.
  if (output.order === undefined || !stdout.hasLines || !stderr.hasLines) return joined(textOf(first), textOf(second))
  const rows = {
    stdout: rowsOf(first, newlinesIn(output.stdout)),
    stderr: rowsOf(second, newlinesIn(output.stderr))
  }
  return interleaved(rows, output.order)
}

/** Joins two texts, with a newline between them. */
const joined = (first: string, second: string): string =>
  first === "" || second === "" || first.endsWith("\n") ? first + second : `${first}\n${second}`

/** The text of a stream, with `left` bytes missing between head and tail. */
interface Shown {
  readonly head: string
  readonly tail: string
  readonly left: number
  readonly where: string
  /** True if it has the same lines as the stream. */
  readonly hasLines: boolean
}

const lengthOf = ({ head, tail }: Shown): number => head.length + tail.length

const unkept = "not kept: redirect it to a file"

const shown = (text: string, kept: KeptOutput.KeptStream | undefined): Shown => {
  const where = kept?.where ?? unkept
  const { bytes, end, start } = kept?.gap ?? { bytes: 0, end: text.length, start: text.length }
  const [first, second] = [text.slice(0, start), text.slice(end)]
  const whole = first + second
  const binary = BinaryText.find(whole)
  if (binary === undefined) {
    const [head, tail] = [TerminalText.show(first), TerminalText.show(second)]
    const hasLines = newlinesIn(head) === newlinesIn(first) && newlinesIn(tail) === newlinesIn(second)
    if (bytes === 0) return { head: cutLines(head, where), tail, left: 0, where, hasLines }
    // If the gap interrupts a long line, the line is cut at the gap, not at its end.
    const ofTail = tail.length - Math.max(0, `${tail}\n`.indexOf("\n") - KeptOutput.longestLine)
    const before = TextCut.headOf(head, head.lastIndexOf("\n") + 1 + KeptOutput.longestLine)
    const after = TextCut.tailOf(tail, ofTail)
    const left = bytes + Buffer.byteLength(head + tail) - Buffer.byteLength(before + after)
    return { head: cutLines(before), tail: cutLines(after), left, where, hasLines }
  }
  // The gap counts as part of the binary data. The text around it is UTF-8, so its bytes can be counted.
  const before = whole.slice(0, Math.min(binary.start, start))
  const after = whole.slice(bytes === 0 ? binary.end : Math.max(binary.end, start))
  const size = (kept?.bytes ?? Buffer.byteLength(whole)) - Buffer.byteLength(before) - Buffer.byteLength(after)
  const mark = `[binary output: ${size} bytes; ${where}]\n`
  return {
    head: cutLines(TerminalText.show(`${joined(before, mark)}${after}`)),
    tail: "",
    left: 0,
    where,
    hasLines: false
  }
}

/** Cuts the middle out of a text so that it fits, and marks the gap. */
const cut = (text: Shown, room: number): Part => {
  const { head, left, tail, where } = text
  if (lengthOf(text) <= room) return { head, mark: left === 0 ? "" : KeptOutput.gapLine(left, where), tail }
  const half = Math.ceil(room / 2)
  const before = TextCut.headOf(head, left === 0 ? half : Math.max(half, room - tail.length))
  const after =
    left === 0 ? TextCut.tailOf(head, room - half) : TextCut.tailOf(tail, Math.max(room - half, room - head.length))
  const gone = Buffer.byteLength(head + tail) - Buffer.byteLength(before + after)
  return { head: before, mark: KeptOutput.gapLine(left + gone, where), tail: after }
}

/** The sentences of `message` about how a call ended. `output` and `extras` hold the details. */
const Ending = {
  succeeded: "Command executed successfully.",
  failed: "Command failed.",
  denied: "Denied by the sandbox.",
  timedOut: "Command timed out.",
  interrupted: "Command interrupted.",
  died: "The tool itself failed."
} as const

const all: ReadonlySet<string> = new Set(Object.values(Ending))

/**
 * Writes an error's `message` for a model, with how to see the usage of the failed command. If the call itself was
 * wrong, it is the whole error (S46).
 */
const ofError = (error: CommandError): string => {
  switch (error._tag) {
    case "Blocked":
      return Ending.denied
    case "ExecutionFailed":
      return error.kind === "timeout" ? Ending.timedOut : Ending.failed
    default: {
      if (error._tag === "InvalidUsage" && error.ofCall === true) return toText(error)
      const { help } = adviceOf(error)
      return help.length === 0 ? Ending.failed : `${Ending.failed} ${Advice.render(help, Advice.model)}`
    }
  }
}

/** Separates advice about `--help`, which goes into `message`, from other advice, which goes into `output`. */
const adviceOf = ({ advice }: Pick<CommandError, "advice">) => {
  const isHelp = (part: Advice.Part) =>
    typeof part !== "string" && part._tag === "Run" && part.command.endsWith(" --help")
  return {
    help: advice.filter((line) => line.some(isHelp)),
    others: advice.filter((line) => !line.some(isHelp))
  }
}

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
  /** The text for the model, with everything that it needs to know. */
  readonly output: string
  /**
   * A sentence on how the call ended, which does not repeat `output`. After a failure, it may say how to see the usage
   * of the failed command. If no tool accepted the call, it is the whole text.
   */
  readonly message: string
  readonly extras: Extras
}

/**
 * The `output` of a call that printed nothing and succeeded.
 *
 * @since 0.1.0
 * @category models
 */
export const noOutput = "(no output)"

/**
 * The details for programs. Fields that do not apply are absent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extras {
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files with the whole output, if it was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  /** Images that the command showed, for callers that can pass them to the model. */
  readonly images?: ReadonlyArray<CommandResult.Image>
  /** The jobs that the command left running, and those that ended since the last result. */
  readonly jobs?: ReadonlyArray<JobStatus.JobStatus>
  /** Notices about the command, as data. `output` words them. */
  readonly diagnostics?: ReadonlyArray<Diagnostic.Diagnostic>
  readonly failureCategory?: FailureCategory
  /** The tag of the error, if the command did not run or was stopped. */
  readonly error?: CommandError["_tag"]
  /** The tool's name as the call gave it, if the call itself was wrong. */
  readonly toolName?: string
  /** The parser's message, if the arguments are not JSON. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  /** The denial as data, if the sandbox made it. */
  readonly denied?: Diagnostic.Denial
  readonly blockedResource?: string
  readonly blockedRule?: string
  /** The hosts that the command reached on the network, with their ports. */
  readonly hosts?: ReadonlyArray<string>
}

/**
 * The options of `fromExit`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ExitOptions {
  /**
   * The reader of the result; a model by default. Other readers have already seen the output, so `message` alone tells
   * them why a command did not end.
   */
  readonly audience?: Advice.Audience | undefined
  /** The output of an interrupted command so far. */
  readonly partial?: CommandResult.CommandResult | undefined
  /** The tool's own explanation of how the call ended. */
  readonly diagnosis?: Diagnosis | undefined
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
  const { audience = Advice.model } = options
  if (exit._tag === "Success") {
    const said = CommandResult.say(exit.value, audience)
    return said.exitCode === ExitCode.success ? succeeded(call, said, options) : failed(call, said, options)
  }
  const { partial = CommandResult.make() } = options
  return CommandExit.CommandExit.$match(CommandExit.fromCause(exit.cause, `The tool ${call.name}`, audience, partial), {
    Failed: ({ error }) => withError(call, error, messageOf(error, options), {}, options),
    Interrupted: ({ exitCode, text }) =>
      make(call, true, options.audience === undefined ? Ending.interrupted : text, text, partial, {
        exitCode,
        ...outputOf(partial),
        interrupted: true
      }),
    Died: ({ category, exitCode, text }) => {
      const said = `${text}\nThis is an error of the tool, not of the call.`
      return make(call, true, options.audience === undefined ? Ending.died : said, said, CommandResult.make(), {
        exitCode,
        failureCategory: category
      })
    }
  })
}

const messageOf = (error: CommandError, { audience }: ExitOptions): string =>
  audience === undefined ? ofError(error) : withRemedy(toText(error, audience))

/**
 * Makes the result of a call that no tool accepted. `message` is the whole text, so that the next call can be right
 * (S30, S46).
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
  { audience = Advice.model, diagnosis }: Pick<ExitOptions, "audience" | "diagnosis"> = {}
): ToolReturn => {
  const remark = diagnosis?.remark
  const told = "diagnostics" in error ? toldOf(error) : undefined
  const base = { exitCode: error.exitCode, failureCategory: error.category, error: error._tag, ...extras }
  switch (error._tag) {
    case "Blocked":
      return make(
        call,
        true,
        message,
        remark ?? (textOf(diagnosis?.denied) || toText(error, audience)),
        CommandResult.make(told),
        {
          ...base,
          ...told,
          blocked: true,
          blockedReason: error.reason,
          blockedResource: error.resource,
          blockedRule: error.rule,
          ...Struct.pick(error, "denied")
        }
      )
    case "ExecutionFailed":
      return make(call, true, message, remark ?? withRemedy(toText(error, audience)), error, {
        ...base,
        ...outputOf(error)
      })
    default: {
      const { others } = adviceOf(error)
      const text = others.length === 0 ? error.reason : `${error.reason}\n${Advice.render(others, audience)}`
      return make(call, true, message, text, CommandResult.make(), base)
    }
  }
}

/** Adds advice to a message about running out of file descriptors. */
const withRemedy = (message: string): string =>
  /\bEMFILE\b/.test(message)
    ? `${message}\nThe program has used up its file descriptors: end background commands, or start it with a higher limit (ulimit -n 64, or more).`
    : message

/**
 * Fails with the typed error of a result whose category has one, as `CommandResult.orFail` does.
 *
 * @since 0.1.0
 * @category combinators
 */
export const orFail = <E, R>(
  self: Effect.Effect<ToolReturn, E, R>
): Effect.Effect<ToolReturn, E | Blocked | CommandNotFound | InvalidUsage, R> =>
  Effect.flatMap(self, (result) => {
    const { exitCode, failureCategory: category, stderr } = result.extras
    const error = CommandResult.errorOf({ exitCode, stderr: stderr ?? result.message }, { ...result.extras, category })
    return error === undefined ? Effect.succeed(result) : Effect.fail(error)
  })

/**
 * Leaves out what the rest of a result says: the streams and the diagnostics, which `output` holds.
 * Omits a message that `output` or `isError` already says.
 *
 * @since 0.1.0
 * @category combinators
 */
export const brief = (result: Omit<ToolReturn, "toolCallId">): object => {
  const { extras, message, ...rest } = result
  const others = Struct.omit(extras, "blockedReason", "denied", "diagnostics", "stderr", "stdout")
  const isTold = all.has(message) || rest.output.includes(message)
  return { ...rest, ...(isTold ? undefined : { message }), extras: others }
}

const status = (exitCode: number): string => `[exit ${exitCode}]`

type Output = Omit<CommandResult.CommandResult, "exitCode">

const succeeded = (
  call: Pick<ToolCall, "id">,
  result: CommandResult.CommandResult,
  { diagnosis }: Pick<ExitOptions, "diagnosis">
) =>
  make(call, false, Ending.succeeded, withDenial(diagnosis?.remark ?? "", result, diagnosis), result, {
    exitCode: result.exitCode,
    ...outputOf(result),
    ...Struct.pick(result, "denied")
  })

const failed = (
  call: Pick<ToolCall, "id">,
  result: CommandResult.CommandResult,
  { diagnosis = {} }: Pick<ExitOptions, "diagnosis">
) => {
  const { exitCode, notFound } = result
  const { category, denied = result.denied, hint, remark } = diagnosis
  if (result.blocked === true) {
    const said = remark ?? (textOf(denied) || (result.blockedReason ?? "Blocked by the sandbox."))
    return make(call, true, Ending.denied, `${status(exitCode)} ${said}`, result, {
      exitCode,
      ...outputOf(result),
      failureCategory: "blocked",
      blocked: true,
      ...Struct.pick(result, "blockedReason", "blockedResource", "blockedRule", "denied")
    })
  }
  const message = hint === undefined ? Ending.failed : `${Ending.failed} ${Advice.render([hint], Advice.model)}`
  return make(call, true, message, withDenial(remark ?? status(exitCode), result, diagnosis), result, {
    exitCode,
    ...outputOf(result),
    failureCategory: notFound === undefined ? (category ?? result.category ?? "execution_error") : "command_not_found"
  })
}

const textOf = (denied: Diagnostic.Denial | undefined): string =>
  denied === undefined ? "" : Diagnostic.forModel(denied)

/** Adds to a remark, on a line of its own, what was denied to a command that went on. */
const withDenial = (remark: string, result: Output, { denied = result.denied }: Diagnosis = {}): string =>
  [remark, textOf(denied)].filter((line) => line !== "").join("\n")

const outputOf = (output: Output): Extras => ({
  ...Struct.pick(output, "stdout", "stderr", "hosts", "stdoutFile", "stderrFile", "images", "jobs"),
  ...toldOf(output)
})

const toldOf = ({ diagnostics = [] }: Pick<Output, "diagnostics">): Pick<Output, "diagnostics"> =>
  diagnostics.length === 0 ? {} : { diagnostics }

const make = (
  call: Pick<ToolCall, "id">,
  isError: boolean,
  message: string,
  remark: string,
  output: Output,
  extras: Extras
): ToolReturn => {
  const { diagnostics = [], jobs = [] } = output
  const isRunning = ({ state }: JobStatus.JobStatus) => state === "running"
  const ended = jobs.filter((job) => !isRunning(job)).map(JobStatus.line)
  const begun = jobs.filter(isRunning).map(JobStatus.line)
  const note = [...(remark === "" ? [] : [remark]), ...diagnostics.map(Diagnostic.forModel), ...begun].join("\n")
  const text = [ended.join("\n"), of(output), note].filter((part) => part !== "").reduce(joined, "")
  return { toolCallId: call.id, isError, output: text === "" ? noOutput : text, message, extras }
}
