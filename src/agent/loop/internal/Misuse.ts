/** Counts the turns in a row in which a model uses its tool wrongly. */
import * as Schema from "effect/Schema"
import * as ForeignText from "../../../domain/ForeignText.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as BashTool from "../../../toolset/BashTool.js"
import type { ToolReturn } from "../../../toolset/ToolReturn.js"
import * as TurnCalls from "./TurnCalls.js"

/** The number of turns in a row so far. */
interface Misuse {
  readonly count: number
  /** The commands that failed; undefined where calls were none of the tool. */
  readonly commands: string | undefined
}

/**
 * The number of such turns in a row that ends a run.
 */
export const most = 3

/**
 * No misuse yet.
 */
export const none: Misuse = { count: 0, commands: undefined }

/**
 * Counts a turn. One call that is no misuse makes the count begin anew: wrong calls of one turn are answered together,
 * before the model can do better.
 */
export const next = (
  before: Misuse,
  turn: ReadonlyArray<{ readonly call: ToolCall; readonly result: ToolReturn }>
): Misuse => {
  const kinds = turn.map(({ call, result }) => kindOf(call, result))
  if (kinds.length === 0 || kinds.includes(undefined)) return none
  const commands = kinds.includes("wrong")
    ? undefined
    : kinds.map((kind) => (typeof kind === "object" ? kind.command : "")).join("\n")
  return { count: commands === before.commands ? before.count + 1 : 1, commands }
}

/**
 * Says what was wrong in those turns.
 */
export const describe = ({ commands, count }: Misuse): string =>
  commands === undefined
    ? `The model called its tool wrongly in ${count} turns in a row.`
    : `The same command failed in ${count} turns in a row: ${ForeignText.quoted(commands, 200)}.`

const kindOf = (call: ToolCall, result: ToolReturn): "wrong" | { readonly command: string } | undefined => {
  const { error, failureCategory, toolName } = result.extras
  if (toolName !== undefined) return "wrong"
  const isRefused = error === "CommandNotFound" || error === "InvalidUsage"
  if (error !== undefined && !isRefused) return undefined
  if (failureCategory !== "invalid_usage" && failureCategory !== "command_not_found") return undefined
  const line = TurnCalls.of(call)
  if (line?.simple !== true || (isRefused && !isValid(call))) return isRefused ? "wrong" : undefined
  // A program that the machine does not have is missing whatever its arguments are.
  return { command: failureCategory === "command_not_found" && !isRefused ? line.name : line.text }
}

const isParameters = Schema.is(BashTool.Parameters, { onExcessProperty: "error" })

/** Tests whether the tool takes the arguments of a call. */
const isValid = (call: ToolCall): boolean => isParameters(TurnCalls.argumentsOf(call))
