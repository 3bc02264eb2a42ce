/**
 * Words what `synapse agent` shows of a run: a model's and a command's texts, made harmless.
 *
 * @since 0.1.0
 */

import type { TokenUsage } from "../agent/loop/TokenUsage.js"
import * as ForeignText from "../domain/ForeignText.js"
import type { ToolCall } from "../domain/ToolCall.js"
import type { ToolReturn } from "../toolset/ToolReturn.js"

/**
 * Returns a text with its lines and tabs as they are, and without anything that a terminal would obey. Where no terminal
 * shows it, characters that nobody sees stay.
 *
 * @since 0.1.0
 */
export const harmless = (text: string, isTerminal: boolean): string =>
  isTerminal
    ? text
        .replaceAll("\r\n", "\n")
        .split(/([\n\t])/)
        .map((part) => (part === "\n" || part === "\t" ? part : ForeignText.escape(part)))
        .join("")
    : text.replace(/(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/g, ForeignText.escaped)

/** The most characters of a line that tells of a call. */
const widest = 160

/** Reads the command of a call of `Bash`; undefined where it has none. */
const commandOf = ({ arguments: given }: ToolCall): string | undefined => {
  try {
    const value: unknown = JSON.parse(given)
    return typeof value === "object" && value !== null && "command" in value && typeof value.command === "string"
      ? value.command
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Tells of a call in one line.
 *
 * @since 0.1.0
 */
export const call = (call: ToolCall): string => {
  const command = commandOf(call)
  return `${ForeignText.word(call.name, 40)}: ${ForeignText.line(command ?? call.arguments, widest)}`
}

/**
 * Tells of a call that failed in one line; undefined where it did not.
 *
 * @since 0.1.0
 */
export const failure = ({ extras, isError, message }: ToolReturn): string | undefined => {
  if (!isError) return undefined
  const isOwn = extras.error !== undefined || extras.blocked === true || extras.interrupted === true
  return isOwn ? ForeignText.sentence(message, widest) : `exit code ${extras.exitCode ?? 1}`
}

/** Writes a number with commas between thousands. */
const grouped = (count: number): string => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",")

/**
 * Tells how much a run or a session has used.
 *
 * @since 0.1.0
 */
export const usage = (turns: number, { cost, input, output }: TokenUsage): string =>
  [
    `${turns} turn${turns === 1 ? "" : "s"}`,
    `${grouped(input + output)} tokens`,
    ...(cost === undefined ? [] : [`cost ${cost.toFixed(4)}`])
  ].join(", ")
