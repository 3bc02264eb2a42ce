/**
 * Names the parts of a pipeline that failed before its last one, which alone decides the exit code.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as Pipelines from "../bash/Pipelines.js"
import * as SignalName from "../bash/SignalName.js"
import { isRedirection, type Token } from "../bash/Token.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Fetching from "../sandbox/denial/Fetching.js"
import * as StatusMeaning from "./StatusMeaning.js"

/** The exit codes by which programs say that they did not reach a host. */
const unreached: Readonly<Record<string, ReadonlyArray<number>>> = { curl: [5, 6, 7], wget: [4] }

type Result = Pick<CommandResult, "exitCode" | "offline" | "pipeline" | "stderr">

interface Failure {
  readonly name: string | undefined
  readonly code: number
  readonly text: string
}

/**
 * Returns who failed (`[pytest exited 1]`), and that it was for want of a network where that is known; undefined where
 * nobody did, or where the text does not tell whose exit codes they are.
 *
 * @since 0.1.0
 */
export const remark = (command: string, result: Result): string | undefined => {
  const { tokens } = CommandLine.parse(command)
  const failed = failuresIn(tokens, result)
  if (failed.length === 0) return undefined
  return `[${textOf(failed)}${causeOf(command, tokens, failed, result)}]`
}

/**
 * Returns who failed in a pipeline that failed as a whole, before its last part; the last one too, where its exit code has no
 * meaning of its own.
 *
 * @param meaning the meaning of the exit code, where that is known
 * @since 0.1.0
 */
export const beside = (
  tokens: ReadonlyArray<Token>,
  result: Result,
  meaning: string | undefined
): string | undefined => {
  const failed = failuresIn(tokens, result, meaning === undefined)
  return failed.length === 0 ? undefined : textOf(failed)
}

const textOf = (failed: ReadonlyArray<Failure>): string => failed.map(({ text }) => text).join(", ")

/** Returns those that failed, but for the last part, which only counts where that is asked for. */
const failuresIn = (
  tokens: ReadonlyArray<Token>,
  { exitCode, pipeline = [], stderr }: Result,
  withLast = false
): ReadonlyArray<Failure> => {
  const parts = pipeline.length < 2 ? undefined : Pipelines.last(tokens, pipeline, exitCode)
  return (parts ?? []).flatMap((part, index) => {
    const code = pipeline[index] ?? 0
    const isLast = index === pipeline.length - 1
    if (code === 0 || code === ExitCode.brokenPipe || (isLast && !withLast)) return []
    if (!isLast && part.program !== undefined && code === 1 && StatusMeaning.answers(part.program)) return []
    const name = speakerOf(part, code, stderr)
    return {
      name,
      code,
      text: `${name ?? `part ${index + 1} of the pipeline`} exited ${code}${why(part, code, stderr)}`
    }
  })
}

/** Returns who has the exit code: what runs the program, where that says itself that it could not. */
const speakerOf = ({ program, wrappers }: Pipelines.Part, code: number, stderr: string): string | undefined => {
  const lines = stderr.split("\n")
  const wrapper = wrappers.find((name) => {
    const bare = name.slice(name.lastIndexOf("/") + 1)
    const isMissing = (line: string) => line.startsWith("bash: ") && line.endsWith(`${name}: command not found`)
    const isItsWord = (line: string) => line.startsWith(`${bare}: `) && !line.includes("unable to resolve host")
    return lines.some((line) => (code === ExitCode.notFound && isMissing(line)) || isItsWord(line))
  })
  return wrapper ?? program
}

/** Tells why, where the exit code alone tells it. */
const why = ({ wrappers }: Pipelines.Part, code: number, stderr: string): string => {
  if (code === ExitCode.timeout) return wrappers.includes("timeout") ? ": timeout ended it" : ""
  const signal = SignalName.ofExitCode(code)
  return signal === undefined || stderr.includes(signal.replace(/ \(.*/, "")) ? "" : `: ${signal}`
}

const causeOf = (
  command: string,
  tokens: ReadonlyArray<Token>,
  [first, ...others]: ReadonlyArray<Failure>,
  { offline }: Result
): string => {
  if (first === undefined || others.length > 0 || !isAlone(tokens)) return ""
  if (offline === "socket") return ": the sandbox refuses unix sockets"
  const isCounted = offline === "counted" && !own.test(command)
  if (offline === "named" || (isCounted && saysUnreached(first.name, first.code))) return ": the sandbox has no network"
  return isCounted && Fetching.programs.has(first.name ?? "") ? "; it tried the network, and the sandbox has none" : ""
}

/** Tests whether the pipeline is all that the text runs, but `cd`: then what was refused was refused to it. */
const isAlone = (all: ReadonlyArray<Token>): boolean => {
  const tokens = behindCd(all)
  return (
    tokens.every((token) => token._tag !== "Operator" || /^\|&?$/.test(token.value) || isRedirection(token.value)) &&
    tokens.findIndex(({ _tag }) => _tag === "Newline") < 0
  )
}

/** Returns the tokens behind `cd <directory> &&`. */
const behindCd = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const [cd, directory, and] = tokens.filter(({ _tag }) => _tag !== "Blank")
  const isCd =
    cd?._tag === "Word" &&
    cd.value === "cd" &&
    directory?._tag === "Word" &&
    !directory.expands &&
    and?._tag === "Operator" &&
    and.value === "&&"
  return isCd ? tokens.slice(tokens.indexOf(and) + 1) : tokens
}

/** Matches the names of this machine, which are reached without a network. */
const own = /localhost|\b127\.|::1|0\.0\.0\.0/i

const saysUnreached = (name: string | undefined, code: number): boolean =>
  name !== undefined && Object.hasOwn(unreached, name) && unreached[name]?.includes(code) === true
