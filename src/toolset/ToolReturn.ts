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
import type * as Diagnostic from "../domain/Diagnostic.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as JobStatus from "../domain/JobStatus.js"
import type { LineOrder, StreamName } from "../domain/KeptOutput.js"
import * as KeptOutput from "../domain/KeptOutput.js"
import * as TextCut from "../domain/TextCut.js"
import type { ToolCall } from "../domain/ToolCall.js"
import * as TerminalText from "./TerminalText.js"
import type { Diagnosis } from "./Tool.js"

/**
 * The lines of a stream that are shown: its first ones, the line that tells of a gap (or nothing), and its last ones.
 */
interface Part {
  readonly head: string
  readonly mark: string
  readonly tail: string
}

/** Counts the newlines of a text. */
const newlinesIn = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

/** Splits a text behind its newlines. */
const linesOf = (text: string): Array<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

type Row = readonly [number: number, line: string]

/**
 * Returns the lines of a stream that are shown, each with its number in the stream.
 *
 * @param newlines the number of them in the stream's text
 */
const rowsOf = ({ head, mark, tail }: Part, newlines: number): ReadonlyArray<Row> => {
  const lines = linesOf(head)
  // A line that the gap interrupts stands with the mark.
  if (mark !== "") lines.push(`${head === "" || head.endsWith("\n") ? "" : `${lines.pop()}\n`}${mark}`)
  const below = newlines - newlinesIn(tail) + 1
  return [...lines.map((line, at): Row => [at + 1, line]), ...linesOf(tail).map((line, at): Row => [below + at, line])]
}

/** Joins what is shown of both streams, whose lines came in a known order. */
const interleaved = (rows: Readonly<Record<StreamName, ReadonlyArray<Row>>>, order: LineOrder): string => {
  const counts = { stdout: 0, stderr: 0 }
  const at = { stdout: 0, stderr: 0 }
  const taken: Array<string> = []
  const take = (stream: StreamName, upTo: number) => {
    for (let row = rows[stream][at[stream]]; row !== undefined && row[0] <= upTo; row = rows[stream][++at[stream]]) {
      // Only the end of a stream has no newline.
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
 * Cuts lines that are longer than `KeptOutput.longestLine`; a mark at the end of each tells what was left out.
 *
 * @param where said once; undefined where another mark says it
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
 * Returns the text of both streams, line by line in the order in which they came, where it is known; otherwise the second
 * after the first. Long lines, binary parts and the middle of what exceeds
 * the limit are left out; a mark tells how much that is, and where all of it is.
 *
 * @since 0.1.0
 */
export const of = (output: Pick<CommandResult.CommandResult, "stdout" | "stderr" | "kept" | "order">): string => {
  const { kept } = output
  const limit = kept?.limit ?? KeptOutput.defaultLimit
  const stdout = shown(output.stdout, kept?.stdout)
  const stderr = shown(output.stderr, kept?.stderr)
  const first = cut(stdout, KeptOutput.roomBeside(lengthOf(stderr), limit))
  const second = cut(stderr, KeptOutput.roomBeside(lengthOf(stdout), limit))
  const textOf = ({ head, mark, tail }: Part): string => joined(head, `${mark}${tail}`)
  // What moves the cursor to another line, or is no text, has other lines than those whose order is known.
  if (output.order === undefined || !stdout.hasLines || !stderr.hasLines) return joined(textOf(first), textOf(second))
  const rows = {
    stdout: rowsOf(first, newlinesIn(output.stdout)),
    stderr: rowsOf(second, newlinesIn(output.stderr))
  }
  return interleaved(rows, output.order)
}

/** Joins two texts; the second begins on a line of its own. */
const joined = (first: string, second: string): string =>
  first === "" || second === "" || first.endsWith("\n") ? first + second : `${first}\n${second}`

/** The text of a stream, with a gap of so many bytes between head and tail, or none. */
interface Shown {
  readonly head: string
  readonly tail: string
  readonly left: number
  readonly where: string
  /** True where its lines are those of the stream. */
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
    // A long line that the gap interrupts is cut there, not at its end.
    const ofTail = tail.length - Math.max(0, `${tail}\n`.indexOf("\n") - KeptOutput.longestLine)
    const before = TextCut.headOf(head, head.lastIndexOf("\n") + 1 + KeptOutput.longestLine)
    const after = TextCut.tailOf(tail, ofTail)
    const left = bytes + Buffer.byteLength(head + tail) - Buffer.byteLength(before + after)
    return { head: cutLines(before), tail: cutLines(after), left, where, hasLines }
  }
  // The gap belongs to the binary part. The text around it is UTF-8, so that its bytes can be counted.
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

/** Cuts a text in the middle so that it fits, and writes the mark of its gap. */
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

/** The sentences on how a call ended, of which `output` and `extras` tell the rest. */
const Ending = {
  succeeded: "Command executed successfully.",
  failed: "Command failed.",
  denied: "Denied by the sandbox.",
  timedOut: "Command timed out.",
  interrupted: "Command interrupted.",
  died: "The tool itself failed."
} as const

/** All these sentences. */
const all: ReadonlySet<string> = new Set(Object.values(Ending))

/**
 * Words a tool's error for a model: with how to see the usage of what failed, where that is known, and in full where the call itself
 * was wrong (S46).
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

/** Tells the advice on how to see more help, which `message` has, from the rest, which `output` has. */
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
  /** The jobs that the command has left running, and those that have ended since the last result. */
  readonly jobs?: ReadonlyArray<JobStatus.JobStatus>
  readonly notices?: ReadonlyArray<string>
  readonly personal?: CommandResult.Personal
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
  /** The denial as data, where the sandbox made it. */
  readonly denied?: Diagnostic.Denial
  readonly blockedResource?: string
  readonly blockedRule?: string
  /** The hosts that the command reached on the network, each with its port. */
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
   * The reader of the result; a model by default. Anybody else has seen the output as it came, and is told by the message
   * alone what became of a command that did not end.
   */
  readonly audience?: Advice.Audience | undefined
  /** The output of an interrupted command until then. */
  readonly partial?: CommandResult.CommandResult | undefined
  /** What the tool tells of how the call ended. */
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
  const { audience = Advice.model, partial = CommandResult.make() } = options
  return CommandExit.CommandExit.$match(CommandExit.fromExit(exit, `The tool ${call.name}`, audience, partial), {
    Completed: ({ result }) => {
      const said = CommandResult.say(result, audience)
      return said.exitCode === ExitCode.success ? succeeded(call, said, options) : failed(call, said, options)
    },
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
  { audience = Advice.model, diagnosis }: Pick<ExitOptions, "audience" | "diagnosis"> = {}
): ToolReturn => {
  const remark = diagnosis?.remark
  const base = { exitCode: error.exitCode, failureCategory: error.category, error: error._tag, ...extras }
  switch (error._tag) {
    case "Blocked":
      return make(call, true, message, remark ?? toText(error, audience), CommandResult.make(), {
        ...base,
        blocked: true,
        blockedReason: error.reason,
        blockedResource: error.resource,
        blockedRule: error.rule,
        ...Struct.pick(error, "denied")
      })
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

/** Says what to do where the process had no file descriptor left, whichever part of it needed one. */
const withRemedy = (message: string): string =>
  /\bEMFILE\b/.test(message)
    ? `${message}\nThe program has used up its file descriptors: end background commands, or start it with a higher limit (ulimit -n 64, or more).`
    : message

/**
 * Fails with the typed error of a result that has the category of one, as `CommandResult.orFail` does.
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
 * Leaves out what the rest of a result tells: the texts of the streams, the notices and the denial's words, which `output`
 * holds, and a message that stands in it, or says no more than `isError`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const brief = (result: Omit<ToolReturn, "toolCallId">): object => {
  const { extras, message, ...rest } = result
  const others = Struct.omit(extras, "blockedReason", "denied", "notices", "personal", "stderr", "stdout")
  const isTold = all.has(message) || rest.output.includes(message)
  return { ...rest, ...(isTold ? undefined : { message }), extras: others }
}

/** Words an exit code. */
const status = (exitCode: number): string => `[exit ${exitCode}]`

type Output = Omit<CommandResult.CommandResult, "exitCode">

const succeeded = (
  call: Pick<ToolCall, "id">,
  result: CommandResult.CommandResult,
  { diagnosis }: Pick<ExitOptions, "diagnosis">
) =>
  make(call, false, Ending.succeeded, diagnosis?.remark ?? "", result, {
    exitCode: result.exitCode,
    ...outputOf(result)
  })

const failed = (
  call: Pick<ToolCall, "id">,
  result: CommandResult.CommandResult,
  { diagnosis: { category, hint, remark } = {} }: Pick<ExitOptions, "diagnosis">
) => {
  const { exitCode, notFound } = result
  if (result.blocked === true) {
    const said = remark ?? result.blockedReason ?? "Blocked by the sandbox."
    return make(call, true, Ending.denied, `${status(exitCode)} ${said}`, result, {
      exitCode,
      ...outputOf(result),
      failureCategory: "blocked",
      blocked: true,
      ...Struct.pick(result, "blockedReason", "blockedResource", "blockedRule", "denied")
    })
  }
  const message = hint === undefined ? Ending.failed : `${Ending.failed} ${Advice.render([hint], Advice.model)}`
  return make(call, true, message, remark ?? status(exitCode), result, {
    exitCode,
    ...outputOf(result),
    failureCategory: notFound === undefined ? (category ?? result.category ?? "execution_error") : "command_not_found"
  })
}

const outputOf = (output: Output): Extras => ({
  ...Struct.pick(output, "stdout", "stderr", "hosts", "stdoutFile", "stderrFile", "images", "jobs", "personal"),
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
  const { jobs = [], notices = [] } = output
  const isRunning = ({ state }: JobStatus.JobStatus) => state === "running"
  const ended = jobs.filter((job) => !isRunning(job)).map(JobStatus.line)
  const begun = jobs.filter(isRunning).map(JobStatus.line)
  const note = [...(remark === "" ? [] : [remark]), ...notices, ...begun].join("\n")
  const text = [ended.join("\n"), of(output), note].filter((part) => part !== "").reduce(joined, "")
  return { toolCallId: call.id, isError, output: text === "" ? "(no output)" : text, message, extras }
}
