/** Serves MCP clients over streamable HTTP, with a separate connection and session for each. */
import { randomUUID, timingSafeEqual } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { pipeline, Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import {
  hostHeaderValidationResponse,
  isInitializeRequest,
  isJSONRPCRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as McpConnection from "./McpConnection.js"

/** Where the server listens. */
export interface Address {
  readonly host: string
  /** The port; 0 for any free one. */
  readonly port: number
  /** The bearer token that clients must send. Without it, anyone who reaches the address is served. */
  readonly token: string | undefined
}

/** Says why the server can't listen. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** The largest request, in bytes. */
const largest = 64 * 1024 ** 2
/** The most connections at a time. */
const most = 100
/** How long a connection without requests and running calls is kept. */
const idle = Duration.minutes(30)
const ended = `The session has ended: it was idle for ${Duration.toMinutes(idle)} minutes, or the longest idle of ${most} when another client came.`

interface Client {
  readonly connection: McpConnection.Connection
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly scope: Scope.CloseableScope
  open: number
  used: number
}

const refusal = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status, headers })

/** Tests whether an address is only reachable from this machine. */
export const isLoopback = (host: string): boolean => localhostAllowedHostnames().includes(host)

const isToken = (token: string, header: string | null): boolean => {
  const [given, expected] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${token}`)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const toRequest = (incoming: Http.IncomingMessage): Request => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const hasBody = incoming.method === "POST"
  return new Request(new URL(incoming.url ?? "/", "http://localhost"), {
    method: incoming.method ?? "GET",
    headers,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const } : {})
  })
}

const send = (response: Response, outgoing: Http.ServerResponse): void => {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) return void outgoing.end()
  // A stream may have nothing to send for a long time, so the headers go first.
  outgoing.flushHeaders()
  // The pipeline ends each side with the other. Otherwise, the transport would keep the stream of a client that has
  // left.
  pipeline(Readable.fromWeb(response.body as ReadableStream<Uint8Array>), outgoing, () => {})
}

/** Serves until the scope ends, and returns the port. Each client has a separate session. */
export const serve = (
  { host, port, token }: Address,
  options: McpConnection.Options
): Effect.Effect<number, NotListening, Scope.Scope> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const clock = yield* Effect.clock
    const run = yield* FiberSet.makeRuntimePromise<never>()
    const clients = new Map<string, Client>()
    let opening = 0

    const end = (id: string) =>
      Effect.suspend(() => {
        const client = clients.get(id)
        clients.delete(id)
        return client === undefined ? Effect.void : Scope.close(client.scope, Exit.void)
      })

    /**
     * Ends connections to make room for a new one: those without a running call, the longest idle first. Returns false
     * if all are busy.
     */
    const makeRoom = (): boolean => {
      const waiting = [...clients]
        .filter(([, { connection }]) => !connection.isBusy())
        .sort(([, one], [, other]) => Math.min(one.open, 1) - Math.min(other.open, 1) || one.used - other.used)
      const excess = clients.size + opening - most + 1
      if (excess > waiting.length) return false
      for (const [id, { transport }] of waiting.slice(0, Math.max(0, excess))) {
        void run(end(id))
        void transport.close()
      }
      return true
    }

    const add = Effect.gen(function* () {
      const scope = yield* Scope.fork(outer, { _tag: "Parallel" })
      const connection = yield* Scope.extend(McpConnection.make(options), scope)
      const used = clock.unsafeCurrentTimeMillis()
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void clients.set(id, { connection, transport, scope, open: 0, used }),
        onsessionclosed: (id) => run(end(id))
      })
      yield* Effect.promise(() => connection.server.connect(transport))
      return { scope, transport }
    })

    const bodyOf = async (request: Request): Promise<{ readonly body?: unknown; readonly problem?: Response }> => {
      if (request.method !== "POST") return {}
      const read = await readRequestBody(request, largest)
      if (read.tooLarge) return { problem: refusal(413, `The request is longer than ${largest / 1024 ** 2} MiB.`) }
      try {
        return { body: JSON.parse(read.text) }
      } catch {
        return { problem: refusal(400, "The body is not JSON.") }
      }
    }

    const unauthorized = (request: Request): Response | undefined => {
      if (token !== undefined && !isToken(token, request.headers.get("authorization")))
        return refusal(401, "The bearer token is missing or wrong.", { "www-authenticate": "Bearer" })
      if (!isLoopback(host)) return undefined
      return (
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins())
      )
    }

    const answer = async (request: Request, outgoing: Http.ServerResponse): Promise<Response> => {
      const { body, problem } = await bodyOf(request)
      if (problem !== undefined) return problem
      const messages = [body ?? []].flat()
      const id = request.headers.get("mcp-session-id")
      if (id === null && messages.some((message) => isInitializeRequest(message))) {
        if (!makeRoom()) return refusal(503, `There are ${most} connections already, and all are busy.`)
        opening++
        try {
          const { scope, transport } = await run(add)
          const response = await transport.handleRequest(request, { parsedBody: body })
          if (transport.sessionId === undefined) await run(Scope.close(scope, Exit.void))
          return response
        } finally {
          opening--
        }
      }
      const client = clients.get(id ?? "")
      if (client === undefined)
        return id === null ? refusal(400, "The first request is initialize.") : refusal(404, ended)
      client.open++
      client.used = clock.unsafeCurrentTimeMillis()
      outgoing.on("close", () => {
        client.open--
        client.used = clock.unsafeCurrentTimeMillis()
        // A client that leaves before its answer cancels its calls.
        if (!outgoing.writableFinished)
          for (const message of messages) if (isJSONRPCRequest(message)) client.connection.cancel(message.id)
      })
      return client.transport.handleRequest(request, { parsedBody: body })
    }

    const server = Http.createServer((incoming, outgoing) => {
      const answered = async () => {
        const request = toRequest(incoming)
        return unauthorized(request) ?? (await answer(request, outgoing))
      }
      answered().then(
        (response) => send(response, outgoing),
        () => send(refusal(400, "The request can't be read."), outgoing)
      )
    })
    yield* Effect.acquireRelease(
      Effect.async<void, NotListening>((resume) => {
        server.once("error", (error) =>
          resume(new NotListening({ message: `can't listen on ${host}:${port}: ${error.message}` }))
        )
        server.listen(port, host, () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const sweep = Effect.flatMap(clock.currentTimeMillis, (now) =>
      Effect.forEach(
        [...clients].filter(
          ([, { connection, open, used }]) => open === 0 && !connection.isBusy() && now - used > Duration.toMillis(idle)
        ),
        ([id]) => end(id),
        { discard: true }
      )
    )
    yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("1 minute")))
    return (server.address() as AddressInfo).port
  })
