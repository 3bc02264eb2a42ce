/** Words what went wrong before an MCP server was ready: it was not started, not reached, or said nothing of use. */
import * as Path from "node:path"
import * as Advice from "../../../domain/Advice.js"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import type { McpEntry } from "../McpConfig.js"
import * as McpPlaces from "../McpPlaces.js"
import * as FailureCause from "./FailureCause.js"
import { variables } from "./McpSettings.js"

/** Makes the error for a program that can't be started. */
export const notStarted = (
  entry: McpEntry & { readonly _tag: "Stdio" },
  places: McpPlaces.Places,
  problem: string,
  cause?: unknown
): ExecutionFailed =>
  FailureCause.failed(
    `The MCP server ${entry.server.name} can't be started: ${problem} (its entry in ${McpPlaces.fileOf(entry.server.source, places)}).`,
    cause
  )

/** Makes the error for a server that did not become ready in time. */
export const connectTimedOut = (server: string, timeout: number, words: string): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: FailureCause.withWords(
      `Command execution timeout: the MCP server ${server} did not become ready within ${timeout} ms and was ended.`,
      words
    ),
    advice: [Advice.line`${variables.connectTimeout} sets this limit.`]
  })

/** Makes the error for a program that ended before it was ready, or that speaks another protocol. */
export const notReady = (
  { cwd, server }: Pick<McpEntry & { readonly _tag: "Stdio" }, "cwd" | "server">,
  places: McpPlaces.Places,
  ending: string | undefined,
  cause: unknown,
  words: string
): ExecutionFailed => {
  const isElsewhere = server.source === "project" && cwd === Path.join(places.home, "mcp")
  const where = isElsewhere ? ` It was started in ${cwd}, since its words name nothing in the project.` : ""
  return FailureCause.failed(
    FailureCause.withWords(
      ending === undefined
        ? `The MCP server ${server.name} did not begin the protocol: ${FailureCause.messageOf(cause)}.${where}`
        : `The MCP server ${server.name} ended before it was ready: ${ending}.${where}`,
      words
    ),
    cause
  )
}

/**
 * Makes the error for an address that could not be spoken to.
 *
 * @param challenge the `WWW-Authenticate` header of its answer
 */
export const notReached = (
  entry: McpEntry & { readonly _tag: "Http" },
  places: McpPlaces.Places,
  cause: unknown,
  challenge: string | undefined
): ExecutionFailed => {
  const { name, source } = entry.server
  const file = McpPlaces.fileOf(source, places)
  const origin = FailureCause.shown(entry.server.target)
  const { answer, code, status } = FailureCause.httpOf(cause)
  if (status === 401 || status === 403) {
    const isAuthorized = Object.keys(entry.headers).some((header) => header.toLowerCase() === "authorization")
    if (status === 401 && challenge !== undefined && !isAuthorized) {
      return FailureCause.failed(
        `The MCP server ${name} wants OAuth, which Synapse can't do yet: give a token as a header in ${file}, such as "headers": { "Authorization": "Bearer \${TOKEN}" }.`,
        cause
      )
    }
    return FailureCause.failed(
      `The MCP server ${name} refuses the connection (${answer}): a header is missing or wrong in the "headers" of its entry in ${file}.`,
      cause
    )
  }
  if (status === 404 || status === 405) {
    return FailureCause.failed(
      `The MCP server ${name} does not speak streamable HTTP at ${origin} (${answer}); the older HTTP+SSE transport is not supported. Its "url" is in ${file}.`,
      cause
    )
  }
  if (code === "CLIENT_HTTP_UNEXPECTED_CONTENT") {
    return FailureCause.failed(
      `No MCP server answers at ${origin} (${FailureCause.messageOf(cause)}). The "url" of ${name} is in ${file}.`,
      cause
    )
  }
  return FailureCause.failed(
    `The MCP server ${name} can't be reached at ${origin}: ${status === undefined ? FailureCause.messageOf(cause) : answer}.`,
    cause
  )
}

/** Makes the error where the official client is not installed. */
export const noClient = (cause: unknown): ExecutionFailed =>
  FailureCause.failed("MCP servers need the package @modelcontextprotocol/client, which can't be loaded.", cause)
