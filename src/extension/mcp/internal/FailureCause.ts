/** Makes the errors about MCP servers, from the client's errors and from what the server said. */

import * as Path from "node:path"
import * as Advice from "../../../domain/Advice.js"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import type { McpEntry } from "../McpConfig.js"
import * as McpConfig from "../McpConfig.js"
import { variables } from "./McpSettings.js"

export const notStarted = (
  entry: McpEntry & { readonly _tag: "Stdio" },
  places: McpConfig.Places,
  problem: string,
  cause?: unknown
): ExecutionFailed =>
  failed(
    `The MCP server ${entry.server.name} can't be started: ${problem} (its entry in ${McpConfig.fileOf(entry.server.source, places)}).`,
    cause
  )

/** Makes the error for a server that did not become ready in time. */
export const connectTimedOut = (server: string, timeout: number, words: string): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: withWords(
      `Command execution timeout: the MCP server ${server} did not become ready within ${timeout} ms and was ended.`,
      words
    ),
    advice: [Advice.line`${variables.connectTimeout} sets this limit.`]
  })

/** Makes the error for a program that ended before it was ready, or that does not speak the protocol. */
export const notReady = (
  { cwd, server }: Pick<McpEntry & { readonly _tag: "Stdio" }, "cwd" | "server">,
  places: McpConfig.Places,
  ending: string | undefined,
  cause: unknown,
  words: string
): ExecutionFailed => {
  const isElsewhere = server.source === "project" && ["/", Path.join(places.home, "mcp")].includes(cwd)
  const where = isElsewhere
    ? ` It was started in ${cwd}: name files and directories of the project as ./NAME, or in full.`
    : ""
  return failed(
    withWords(
      ending === undefined
        ? `The MCP server ${server.name} did not begin the protocol: ${messageOf(cause)}.${where}`
        : `The MCP server ${server.name} ended before it was ready: ${ending}.${where}`,
      words
    ),
    cause
  )
}

/** Tests whether a login has expired and could not be renewed. */
export const isLoggedOut = (cause: unknown): boolean => cause instanceof Error && cause.name === "UnauthorizedError"

/**
 * Makes the error for a failed connection to an address.
 *
 * @param challenge the `WWW-Authenticate` header of the answer
 */
export const notReached = (
  entry: McpEntry & { readonly _tag: "Http" },
  places: McpConfig.Places,
  cause: unknown,
  challenge: string | undefined
): ExecutionFailed => {
  const { name, source } = entry.server
  const file = McpConfig.fileOf(source, places)
  const origin = shown(entry.server.target)
  const { answer, code, status } = httpOf(cause)
  const login = `The user runs, in a terminal: synapse mcp login ${name}`
  const isAuthorized = Object.keys(entry.headers).some((header) => header.toLowerCase() === "authorization")
  const reason = (): string => {
    if (isLoggedOut(cause)) return `wants a new login. ${login}`
    if (status === 401 && challenge !== undefined && !isAuthorized) return `wants a login. ${login}`
    if (status === 401 || status === 403)
      return `refuses the connection (${answer}): a header is missing or wrong in the "headers" of its entry in ${file}.`
    if (status === 404 || status === 405)
      return `does not speak streamable HTTP at ${origin} (${answer}); the older HTTP+SSE transport is not supported. Its "url" is in ${file}.`
    if (code === "CLIENT_HTTP_UNEXPECTED_CONTENT")
      return `is not what answers at ${origin} (${messageOf(cause)}). Its "url" is in ${file}.`
    return `can't be reached at ${origin}: ${status === undefined ? messageOf(cause) : answer}.`
  }
  return failed(`The MCP server ${name} ${reason()}`, cause)
}

/** Makes the error for a missing official client. */
export const noClient = (cause: unknown): ExecutionFailed =>
  failed("MCP servers need the package @modelcontextprotocol/client, which can't be loaded.", cause)

export const failed = (reason: string, cause?: unknown): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason, ...(cause === undefined ? {} : { cause }) })

/** The most shown of a server's standard error. */
const mostWords = { characters: 2000, lines: 10 }

/** Returns a server's text, or one about it, in a line of at most 300 characters. */
export const shown = (text: string): string => UntrustedText.line(text, 300)

/** Adds the last lines that a server wrote to standard error. */
export const withWords = (reason: string, words: string): string => {
  const last = UntrustedText.tail(words, "  ", mostWords)
  return last.length === 0 ? reason : [reason, "Its last words:", ...last].join("\n")
}

/** Synapse's own sentences for a missing or unreadable answer. */
export const own = {
  noAnswer: "the connection ended without an answer, and it may have had its effect",
  noResult: "answered with something that is no result"
} as const

const ownTexts: ReadonlySet<string> = new Set(Object.values(own))

/**
 * Returns the messages of an error and its causes in a line, because `fetch failed` alone tells nothing. It is quoted,
 * because a server may have written any of it, unless it is one of `own`.
 */
export const messageOf = (cause: unknown): string => {
  const texts: Array<string> = []
  for (let at = cause; at instanceof Error && texts.length < 3; at = at.cause) {
    const text = at.message || ("code" in at ? String(at.code) : "")
    if (text !== "" && !texts.some((other) => other.includes(text))) texts.push(text)
  }
  const text = texts.length === 0 ? String(cause) : texts.join(": ")
  return ownTexts.has(text) ? text : UntrustedText.quoted(text, 1000)
}

/** Returns the client's error code, and the status of an HTTP answer with its quoted text. */
export const httpOf = (cause: unknown): { code?: unknown; status?: number | undefined; answer: string } => {
  if (!(cause instanceof Error)) return { answer: "" }
  const status = "status" in cause && typeof cause.status === "number" ? cause.status : undefined
  const data = "data" in cause ? cause.data : undefined
  const text = typeof data === "object" && data !== null && "text" in data ? data.text : undefined
  return {
    code: "code" in cause ? cause.code : undefined,
    status,
    answer:
      status === undefined
        ? ""
        : `HTTP ${status}${typeof text === "string" && text.trim() !== "" ? `: ${UntrustedText.quoted(text, 200)}` : ""}`
  }
}
