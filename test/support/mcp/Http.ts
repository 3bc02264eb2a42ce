/** Servers over HTTP for tests, on ports of their own. */
import * as ChildProcess from "node:child_process"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as Servers from "./Servers.js"

const everything = path.resolve(
  import.meta.dirname,
  "../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js"
)
const announce = path.resolve(import.meta.dirname, "../../fixtures/mcp/announce.mjs")

export const entry = (name: string, url: string, headers: Readonly<Record<string, string>> = {}): McpEntry =>
  McpEntry.Http({ server: Servers.server(name, url), fingerprint: `f-${name}-${url}`, url, headers })

/** A server that answers each request so, until the scope closes; its address. */
export const listen = (handler: Http.RequestListener): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Http.Server>((resume) => {
      const server = Http.createServer(handler)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly protocolVersion?: string }
}

const bodyOf = async (request: Http.IncomingMessage): Promise<Message> => {
  let text = ""
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

/** Answers what a server without sessions has to, but not this method; `call` answers the calls. */
export const speaking =
  (call: (id: unknown, response: Http.ServerResponse) => void, silent?: string): Http.RequestListener =>
  async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end()
    const { id, method, params } = await bodyOf(request)
    if (method === silent) return undefined
    if (method === "tools/call") return call(id, response)
    if (id === undefined) return response.writeHead(202).end()
    const tools = [{ name: "do", inputSchema: { type: "object" } }]
    const result =
      method === "initialize"
        ? {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: "h", version: "1" }
          }
        : { tools }
    response.writeHead(200, { "content-type": "application/json" })
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  }

/** The real server-everything behind a door that wants this header; its address. */
export const guarded = (header: string, value: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* Effect.acquireRelease(
      Effect.async<readonly [number, ChildProcess.ChildProcess]>((resume) => {
        const child = ChildProcess.spawn(process.execPath, ["--import", announce, everything, "streamableHttp"], {
          env: { PORT: "0" },
          stdio: ["ignore", "pipe", "ignore"]
        })
        let said = ""
        child.stdout.on("data", (chunk) => {
          said += chunk
          const found = /^port (\d+)$/m.exec(said)
          if (found !== null) resume(Effect.succeed([Number(found[1]), child]))
        })
      }),
      ([, child]) =>
        Effect.async<void>((resume) => {
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGKILL")
        })
    ).pipe(Effect.map(([port]) => port))
    return yield* listen((request, response) => {
      if (request.headers[header] !== value) return response.writeHead(401).end("who are you?")
      const { headers, method, url } = request
      const onward = Http.request({ port, host: "127.0.0.1", headers, method, path: url }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      onward.on("error", () => response.destroy())
      request.pipe(onward)
      response.on("close", () => onward.destroy())
      return undefined
    })
  })
