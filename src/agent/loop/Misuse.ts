/**
 * Counts the turns in a row in which a model only called its tool wrongly.
 *
 * Wrong is a call that was refused before anything ran (an unknown tool, broken or invalid arguments, an unknown command
 * of ours), and a single command of ours that was used wrongly. A program that the machine does not have is no misuse;
 * calling it again is. What fails within a longer line is the line's own business.
 *
 * @since 0.1.0
 */

import type { ToolCall } from "../../domain/ToolCall.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import * as CalledLine from "./CalledLine.js"

/**
 * The number of turns in a row so far, and the program that was missing last.
 *
 * @since 0.1.0
 * @category models
 */
export interface Misuse {
  readonly count: number
  readonly missing: string | undefined
}

/**
 * The number of such turns in a row that ends a run.
 *
 * @since 0.1.0
 */
export const most = 3

/**
 * No misuse yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: Misuse = { count: 0, missing: undefined }

/**
 * Counts a turn. One call that is no misuse makes the count begin anew: wrong calls of one turn are answered together,
 * before the model can do better.
 *
 * @since 0.1.0
 * @category combinators
 */
export const next = (
  before: Misuse,
  turn: ReadonlyArray<{ readonly call: ToolCall; readonly result: ToolReturn }>
): Misuse => {
  const kinds = turn.map(({ call, result }) => kindOf(call, result))
  if (kinds.length === 0 || kinds.includes(undefined)) return none
  if (kinds.includes("wrong")) return { count: before.count + 1, missing: undefined }
  const missing = kinds.map((kind) => (typeof kind === "object" ? kind.missing : "")).join("\n")
  return missing === before.missing || before.count === 0
    ? { count: before.count + 1, missing }
    : { count: before.count, missing }
}

const kindOf = (
  call: ToolCall,
  { extras: { error, failureCategory } }: ToolReturn
): "wrong" | { readonly missing: string } | undefined => {
  if (error === "CommandNotFound" || error === "InvalidUsage") return "wrong"
  if (error !== undefined) return undefined
  if (failureCategory !== "invalid_usage" && failureCategory !== "command_not_found") return undefined
  const line = CalledLine.of(call)
  if (line?.simple !== true) return undefined
  return failureCategory === "invalid_usage" ? "wrong" : { missing: line.name }
}
