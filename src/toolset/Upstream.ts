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
  const isCause =
    others.length === 0 &&
    isAlone(tokens) &&
    (offline === "named" || (offline === "counted" && !own.test(command) && saysUnreached(first.name, first.code)))
  return `[${failed.map(({ text }) => text).join(", ")}${isCause ? ": the sandbox has no network" : ""}]`
}

/** Tests whether the pipeline is all that the text runs: then what was refused was refused to it. */
const isAlone = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.every((token) => token._tag !== "Operator" || /^\|&?$/.test(token.value) || isRedirection(token.value)) &&
  tokens.findIndex(({ _tag }) => _tag === "Newline") < 0

/** Matches the names of this machine, which are reached without a network. */
const own = /localhost|\b127\.|::1|0\.0\.0\.0/i

const saysUnreached = (name: string | undefined, code: number): boolean =>
  name !== undefined && Object.hasOwn(unreached, name) && unreached[name]?.includes(code) === true
