/**
 * Words what went wrong with an MCP server: whose fault it is, and what can be done.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Advice from "../../domain/Advice.js"
import { Blocked, type CommandError, ExecutionFailed } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { McpServer } from "./McpClient.js"
import type { McpEntry } from "./McpConfig.js"
import { variables } from "./McpSettings.js"

/**
 * The places of the configuration.
 *
 * @since 0.1.0
 * @category models
 */
export interface Places {
  readonly home: string
  readonly root: string
}

/**
 * Returns the path of the file that a server is configured in.
 *
 * @since 0.1.0
 */
export const fileOf = (source: McpServer["source"], { home, root }: Places): string =>
  source === "project" ? Path.join(root, "mcp_servers.json") : Path.join(home, "mcp", "mcp_servers.json")

const failed = (reason: string, cause?: unknown): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason, ...(cause === undefined ? {} : { cause }) })

/** The most of what a server wrote to its standard error. */
const mostWords = { characters: 2000, lines: 10 }

const shown = (text: string): string => ForeignText.line(text, 300)

const withWords = (reason: string, words: string): string => {
  const last = ForeignText.tail(words, "  ", mostWords)
  return last.length === 0 ? reason : [reason, "Its last words:", ...last].join("\n")
}

/**
 * Makes the error for a server whose entry is broken, or not trusted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unusable = (entry: McpEntry & { readonly _tag: "Unusable" }, places: Places): CommandError => {
  const { name, source } = entry.server
  const file = fileOf(source, places)
  return entry.reason === "broken"
    ? failed(`The MCP server ${name} can't be used: ${entry.problem} (its entry in ${file}).`)
    : new Blocked({
        resource: `mcp:${name}`,
        rule: file,
        reason:
          entry.reason === "loose"
            ? entry.problem
            : `the user has not trusted this file: they must run \`synapse mcp trust\` in ${Path.dirname(file)}`
      })
}

/**
 * Makes the error for a program that can't be started.
 *
 * @since 0.1.0
 * @category constructors
 */
export const notStarted = (
  entry: McpEntry & { readonly _tag: "Stdio" },
  places: Places,
  problem: string,
  cause?: unknown
): ExecutionFailed =>
  failed(
    `The MCP server ${entry.server.name} can't be started: ${problem} (its entry in ${fileOf(entry.server.source, places)}).`,
    cause
  )

/**
 * Makes the error for a server that did not become ready in time.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connectTimedOut = (server: string, timeout: number, words: string): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: withWords(
      `Command execution timeout: the MCP server ${server} did not become ready within ${timeout} ms and was ended.`,
      words
    ),
    advice: [Advice.line`${variables.connectTimeout} sets this limit.`]
  })

/**
 * Makes the error for a program that ended before it was ready, or said something that no server says.
 *
 * @param ending how it ended
 * @since 0.1.0
 * @category constructors
 */
export const notReady = (server: string, ending: string | undefined, cause: unknown, words: string): ExecutionFailed =>
  failed(
    withWords(
      ending === undefined
        ? `The MCP server ${server} did not begin the protocol: ${messageOf(cause)}.`
        : `The MCP server ${server} ended before it was ready: ${ending}.`,
      words
    ),
    cause
  )

/**
 * Makes the error for an address that could not be spoken to.
 *
 * @param challenge the `WWW-Authenticate` header of its answer
 * @since 0.1.0
 * @category constructors
 */
export const notReached = (
  entry: McpEntry & { readonly _tag: "Http" },
  places: Places,
  cause: unknown,
  challenge: string | undefined
): ExecutionFailed => {
  const { name, source } = entry.server
  const file = fileOf(source, places)
  const origin = shown(entry.server.target)
  const { code, status, text } = httpOf(cause)
  const answer = status === undefined ? "" : `HTTP ${status}${text === "" ? "" : `: ${text}`}`
  if (status === 401 || status === 403) {
    const isAuthorized = Object.keys(entry.headers).some((header) => header.toLowerCase() === "authorization")
    if (status === 401 && challenge !== undefined && !isAuthorized) {
      return failed(
        `The MCP server ${name} wants OAuth, which Synapse can't do yet: give a token as a header in ${file}, such as "headers": { "Authorization": "Bearer \${TOKEN}" }.`,
        cause
      )
    }
    return failed(
      `The MCP server ${name} refuses the connection (${answer}): a header is missing or wrong in the "headers" of its entry in ${file}.`,
      cause
    )
  }
  if (status === 404 || status === 405) {
    return failed(
      `The MCP server ${name} does not speak streamable HTTP at ${origin} (${answer}); the older HTTP+SSE transport is not supported. Its "url" is in ${file}.`,
      cause
    )
  }
  if (code === "CLIENT_HTTP_UNEXPECTED_CONTENT") {
    return failed(
      `No MCP server answers at ${origin} (${messageOf(cause)}). The "url" of ${name} is in ${file}.`,
      cause
    )
  }
  return failed(
    `The MCP server ${name} can't be reached at ${origin}: ${status === undefined ? messageOf(cause) : answer}.`,
    cause
  )
}

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
    reason: `Command execution timeout: the MCP server ${server} gave neither an answer nor progress to ${shown(what)} for ${timeout} ms, so the call was cancelled.`,
    advice: [[advice]]
  })

/**
 * Makes the error for a server that ended while it was asked.
 *
 * @since 0.1.0
 * @category constructors
 */
export const endedDuring = (server: string, what: string, ending: string, words: string): ExecutionFailed =>
  failed(
    withWords(
      `The MCP server ${server} ended during ${shown(what)} (${ending}). It may have had its effect, so it was not repeated; the next call starts the server anew.`,
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
  const { status, text } = httpOf(cause)
  const said = status === undefined ? messageOf(cause) : `HTTP ${status}${text === "" ? "" : `: ${text}`}`
  return failed(`The MCP server ${server} failed at ${shown(what)}: ${said}`, cause)
}

/**
 * Makes the error for an answer that is nested too deep.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tooDeep = (server: string, what: string, deepest: number): ExecutionFailed =>
  failed(
    `The MCP server ${server} failed at ${shown(what)}: its answer is nested deeper than ${deepest} levels. It may have had its effect.`
  )

/**
 * Makes the error where the official client is not installed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const noClient = (cause: unknown): ExecutionFailed =>
  failed("MCP servers need the package @modelcontextprotocol/client, which can't be loaded.", cause)

/** The texts of an error and of its causes, as a line: `fetch failed` alone tells nothing. */
const messageOf = (cause: unknown): string => {
  const texts: Array<string> = []
  for (let at = cause; at instanceof Error && texts.length < 3; at = at.cause) {
    const text = at.message || ("code" in at ? String(at.code) : "")
    if (text !== "" && !texts.some((other) => other.includes(text))) texts.push(text)
  }
  return ForeignText.line(texts.length === 0 ? String(cause) : texts.join(": "), 1000)
}

/** The code of an error of the client's, and the status and the text of an answer. */
const httpOf = (cause: unknown): { code?: unknown; status?: number | undefined; text: string } => {
  if (!(cause instanceof Error)) return { text: "" }
  const status = "status" in cause && typeof cause.status === "number" ? cause.status : undefined
  const data = "data" in cause ? cause.data : undefined
  const text = typeof data === "object" && data !== null && "text" in data ? data.text : undefined
  return {
    code: "code" in cause ? cause.code : undefined,
    status,
    text: typeof text === "string" ? ForeignText.line(text, 200) : ""
  }
}
