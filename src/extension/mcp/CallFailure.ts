/**
 * Words what went wrong when an MCP server was asked for something: it did not answer, refused, or ended.
 *
 * @since 0.1.0
 */
import { ExecutionFailed } from "../../domain/CommandError.js"
import * as FailureCause from "./FailureCause.js"
import { variables } from "./McpSettings.js"

/**
 * Makes the error for a call without an answer.
 *
 * @param isDefault true where the time is the setting's
 * @since 0.1.0
 * @category constructors
 */
export const callTimedOut = (server: string, what: string, timeout: number, isDefault: boolean): ExecutionFailed =>
  unanswered(
    server,
    what,
    timeout,
    isDefault
      ? `To wait longer, give timeout=<ms>; without it, ${variables.timeout} sets this limit.`
      : "To wait longer, give a longer timeout=<ms>."
  )

/**
 * Makes the error for a server that does not list its tools, which takes the setting's time and no call's.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listTimedOut = (server: string, what: string, timeout: number): ExecutionFailed =>
  unanswered(server, what, timeout, `${variables.timeout} sets this limit.`)

const unanswered = (server: string, what: string, timeout: number, advice: string): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: `Command execution timeout: the MCP server ${server} gave neither an answer nor progress to ${FailureCause.shown(what)} for ${timeout} ms, so the call was cancelled.`,
    advice: [[advice]]
  })

/**
 * Makes the error for a server that ended while it was asked.
 *
 * @since 0.1.0
 * @category constructors
 */
export const endedDuring = (server: string, what: string, ending: string, words: string): ExecutionFailed =>
  FailureCause.failed(
    FailureCause.withWords(
      `The MCP server ${server} ended during ${FailureCause.shown(what)} (${ending}). It may have had its effect, so it was not repeated; the next call starts the server anew.`,
      words
    )
  )

/**
 * Makes the error for a request that the server refused, or answered with what is no answer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const refused = (server: string, what: string, cause: unknown): ExecutionFailed => {
  const { answer } = FailureCause.httpOf(cause)
  const said = answer === "" ? FailureCause.messageOf(cause) : answer
  return FailureCause.failed(`The MCP server ${server} failed at ${FailureCause.shown(what)}: ${said}`, cause)
}

/**
 * Makes the error for an answer that is nested too deep.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tooDeep = (server: string, what: string, deepest: number): ExecutionFailed =>
  FailureCause.failed(
    `The MCP server ${server} failed at ${FailureCause.shown(what)}: its answer is nested deeper than ${deepest} levels. It may have had its effect.`
  )
