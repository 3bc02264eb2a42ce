/**
 * Names the parts of a pipeline that failed before its last one, which alone decides the exit code.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as StatusSource from "../bash/StatusSource.js"
import { isRedirection, type Token } from "../bash/Token.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Fetching from "../sandbox/denial/Fetching.js"
import * as StatusMeaning from "./StatusMeaning.js"

/** The exit codes by which programs say that they did not reach a host. */
const unreached: Readonly<Record<string, ReadonlyArray<number>>> = { curl: [5, 6, 7], wget: [4] }

/**
 * Returns who failed (`[pytest exited 1]`), and that it was for want of a network where that is known; undefined where
 * nobody did, or where the text does not tell whose exit codes they are.
 *
 * @since 0.1.0
 */
export const remark = (
  command: string,
  { offline, pipeline }: Pick<CommandResult, "offline" | "pipeline">
): string | undefined => {
  const { tokens } = CommandLine.parse(command)
  const stages = pipeline === undefined ? undefined : StatusSource.stages(tokens)
  if (pipeline === undefined || stages?.length !== pipeline.length) return undefined
  const failed = pipeline.slice(0, -1).flatMap((code, index) => {
    const name = stages[index]
    if (code === 0 || code === ExitCode.brokenPipe) return []
    if (name !== undefined && code === 1 && StatusMeaning.answers(name)) return []
    return { name, code, text: `${name ?? `part ${index + 1} of the pipeline`} exited ${code}` }
  })
  const [first, ...others] = failed
  if (first === undefined) return undefined
  const isIts = others.length === 0 && isAlone(tokens)
  const isCounted = isIts && offline === "counted" && !own.test(command)
  const isCause = isIts && (offline === "named" || (isCounted && saysUnreached(first.name, first.code)))
  const why = isCause
    ? ": the sandbox has no network"
    : isCounted && Fetching.programs.has(first.name ?? "")
      ? "; it tried the network, and the sandbox has none"
      : ""
  return `[${failed.map(({ text }) => text).join(", ")}${why}]`
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
