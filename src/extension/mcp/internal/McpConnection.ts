/** Connects to one MCP server with the official client. */
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import type * as Client from "@modelcontextprotocol/client"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../../domain/CommandError.js"
import * as JsonValue from "../../../domain/JsonValue.js"
import * as Timeout from "../../../domain/Timeout.js"
import * as Version from "../../../domain/Version.js"
import type { McpCallOptions, McpOutput, McpProgress, McpTool } from "../McpClient.js"
import type * as McpConfig from "../McpConfig.js"
import type { McpEntry } from "../McpConfig.js"
import * as FailureCause from "./FailureCause.js"
import { type Settings, variables } from "./McpSettings.js"
import * as ToolList from "./ToolList.js"
import * as Wire from "./Wire.js"

/**
 * Makes the error for a request without an answer.
 *
 * @param advice a sentence on how to wait longer
 */
const unanswered = (server: string, what: string, timeout: number, advice: string): ExecutionFailed =>
  new ExecutionFailed({
    kind: "timeout",
    reason: `Command execution timeout: the MCP server ${server} gave neither an answer nor progress to ${FailureCause.shown(what)} for ${timeout} ms, so the call was cancelled.`,
    advice: [[advice]]
  })

/** Makes the error for a request that the server refused or answered invalidly. */
export const refused = (server: string, what: string, cause: unknown): ExecutionFailed => {
  const { answer } = FailureCause.httpOf(cause)
  const said = answer === "" ? FailureCause.messageOf(cause) : answer
  return FailureCause.failed(`The MCP server ${server} failed at ${FailureCause.shown(what)}: ${said}`, cause)
}

export type Usable = Exclude<McpEntry, { readonly _tag: "Unusable" }>

/** A connection to a server that is ready. */
export interface McpConnection {
  /** The server's own name and version. */
  readonly version: string
  /** Takes an item each time the server reports changed tools. */
  readonly changes: Queue.Dequeue<void>
  readonly list: Effect.Effect<ReadonlyArray<McpTool>, ExecutionFailed | Gone>
  /** Calls a tool. Interruption cancels the call at the server, and progress restarts the timeout. */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options?: McpCallOptions
  ) => Effect.Effect<McpOutput, ExecutionFailed | Gone>
}

/** The server has ended or forgotten the session, so the request did not reach it. */
export class Gone extends Data.TaggedError("Gone")<{ readonly cause: unknown }> {}

/** Turns the client's validation of answers off, so that unexpected answers can still be shown. */
const anything: Client.StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "synapse", validate: (value) => ({ value }) }
}

/** Turns the validation of a tool's structured output off. */
const unchecked: Client.jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined })
}

/**
 * Starts the server of an entry or connects to it, and ends both with the scope. It can be interrupted at any time.
 */
export const open = (
  entry: Usable,
  places: McpConfig.Places,
  settings: Settings
): Effect.Effect<McpConnection, ExecutionFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const library = yield* Effect.tryPromise({
      try: () => import("@modelcontextprotocol/client"),
      catch: FailureCause.noClient
    })
    const server = entry.server.name
    const wire = entry._tag === "Stdio" ? yield* Wire.stdio(entry, places) : yield* Wire.http(library, entry, places)
    const client = new library.Client(
      { name: "synapse", version: Version.current },
      // `auto` would start every older program twice.
      { capabilities: { roots: {} }, jsonSchemaValidator: unchecked, versionNegotiation: { mode: "legacy" } }
    )
    let isAskedForRoots = false
    client.setRequestHandler("roots/list", () => {
      isAskedForRoots = true
      return { roots: [{ uri: pathToFileURL(places.root).href, name: Path.basename(places.root) || "/" }] }
    })
    client.fallbackRequestHandler = async ({ method }) => {
      throw new library.ProtocolError(
        library.ProtocolErrorCode.MethodNotFound,
        `Synapse does not answer ${method}: nobody is there to do so`
      )
    }
    const changes = yield* Queue.sliding<void>(1)
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      changes.unsafeOffer()
    })

    yield* Effect.addFinalizer(() => Effect.promise(() => wire.transport.close().catch(() => {})))
    yield* Effect.tryPromise({
      // The client's own timeout covers only the first answer.
      try: (signal) => client.connect(wire.transport, { signal, timeout: Timeout.longest }),
      catch: wire.notReady
    }).pipe(
      Effect.timeoutFail({
        duration: settings.connectTimeout,
        onTimeout: () => FailureCause.connectTimedOut(server, settings.connectTimeout, wire.lastWords())
      })
    )

    // A server may ask for its roots only now. Its tools are called only after it has received them.
    const ping = (timeout: number) =>
      Effect.ignore(Effect.tryPromise((signal) => client.request({ method: "ping" }, anything, { signal, timeout })))
    if (entry._tag === "Stdio") {
      yield* ping(Math.min(firstPing, settings.connectTimeout))
      if (isAskedForRoots) yield* Effect.zipRight(ping(secondPing), Effect.sleep(settling))
    }

    const failure =
      (what: string, timeout: number, advice: string) =>
      (cause: unknown): ExecutionFailed | Gone => {
        const { code } = FailureCause.httpOf(cause)
        if (code === "REQUEST_TIMEOUT") return unanswered(server, what, timeout, advice)
        if (code === "CONNECTION_CLOSED") {
          const reason = `The MCP server ${server} ended during ${FailureCause.shown(what)} (${wire.ending() ?? "the connection was closed"}). It may have had its effect, so it was not repeated; the next call starts the server anew.`
          return FailureCause.failed(FailureCause.withWords(reason, wire.lastWords()))
        }
        if (wire.isUnsent(cause) || client.transport === undefined) return new Gone({ cause })
        return wire.isRefusal(cause) ? wire.notReady(cause) : refused(server, what, cause)
      }

    const theList = "the list of its tools"
    const limit = `${variables.timeout} sets this limit.`
    const { name = "", version: own = "" } = client.getServerVersion() ?? {}
    return {
      version: `${name} ${own}`,
      changes,
      list: Effect.tryPromise({
        try: async (signal) =>
          client.getServerCapabilities()?.tools === undefined
            ? []
            : await ToolList.all(server, (cursor) =>
                client.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } }, anything, {
                  signal,
                  timeout: settings.timeout
                })
              ),
        catch: failure(theList, settings.timeout, limit)
      }).pipe(
        Effect.timeoutFail({
          duration: settings.timeout,
          onTimeout: () => unanswered(server, theList, settings.timeout, limit)
        })
      ),
      call: (tool, args, options = {}) => {
        const what = `the call of ${tool}`
        const timeout = Math.min(options.timeout ?? settings.timeout, Timeout.longest)
        return Effect.flatMap(
          Effect.tryPromise({
            try: (signal) =>
              client.request({ method: "tools/call", params: { name: tool, arguments: args } }, anything, {
                signal,
                timeout,
                resetTimeoutOnProgress: true,
                onprogress: (progress) => options.onProgress?.(progress as McpProgress)
              }),
            catch: failure(what, timeout, `To wait longer, give timeout=<ms>; without it, ${limit}`)
          }),
          (answer) =>
            JsonValue.isDeeperThan(answer, deepest)
              ? FailureCause.failed(
                  `The MCP server ${server} failed at ${FailureCause.shown(what)}: its answer is nested deeper than ${deepest} levels. It may have had its effect.`
                )
              : Effect.succeed(outputOf(answer))
        )
      }
    }
  })

/** The most milliseconds that a server may take to answer the first ping, and another one after it got its roots. */
const firstPing = 1000
const secondPing = 100
/** How long a server has to process its roots, in milliseconds. */
const settling = 50

/**
 * The deepest answer that is accepted. Recursive functions such as `JSON.stringify` overflow the stack at a few
 * thousand levels.
 */
const deepest = 500

const outputOf = (result: unknown): McpOutput => {
  const { content, structuredContent, isError } = Predicate.isReadonlyRecord(result) ? result : {}
  return {
    content: Array.isArray(content) ? content.filter(isBlock) : [],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {})
  }
}

const isBlock = (value: unknown): value is McpOutput["content"][number] =>
  Predicate.isReadonlyRecord(value) && typeof value["type"] === "string"
