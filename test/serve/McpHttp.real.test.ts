import * as Http from "node:http"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as McpHttp from "../../src/serve/McpHttp.js"
import { Toolset } from "../../src/toolset/Toolset.js"

const message = (method: string, params = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })

const initialize = message("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" }
})

/** A server whose commands never end by themselves, and tell when they begin and end. */
const serving = (token?: string) =>
  Effect.gen(function* () {
    const events: Array<string> = []
    const handle = () =>
      Effect.sync(() => events.push("begun")).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Effect.sync(() => events.push("ended")))
      )
    const toolset = Toolset.of({ tools: [], handle, cancel: () => Effect.succeed(false) })
    const port = yield* McpHttp.serve(
      { host: "127.0.0.1", port: 0, token },
      { tools: Effect.succeed([]), open: () => Layer.succeed(Toolset, toolset), words: String }
    )
    /** Resolves to the response, once its headers are there. */
    const begin = (headers: Readonly<Record<string, string>>, body?: string) => {
      const request = Http.request({
        port,
        path: "/mcp",
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
      })
      const answered = new Promise<Http.IncomingMessage>((resolve, reject) =>
        request.on("error", reject).on("response", (response) => resolve(response.on("error", () => {})))
      )
      request.end(body)
      return { answered, request }
    }
    const ask = (headers: Readonly<Record<string, string>>, body?: string) =>
      Effect.promise(async () => {
        const { answered, request } = begin(headers, body)
        const { statusCode, headers: given } = await answered
        request.destroy()
        return { status: statusCode, session: { "mcp-session-id": String(given["mcp-session-id"]) } }
      })
    return { ask, begin, events }
  })

const tick = Effect.promise(() => new Promise(setImmediate))

describe("MCP over HTTP", () => {
  it.scoped(
    "answers no page of the web, no other name, no client without its token, and no request beyond 64 MiB",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* serving("secret")
        const token = { authorization: "Bearer secret" }
        for (const [headers, body, status] of [
          [token, initialize, 200],
          [{}, initialize, 401],
          [{ authorization: "Bearer secreT" }, initialize, 401],
          [{ authorization: "secret" }, initialize, 401],
          [{ ...token, host: "evil.example" }, initialize, 403],
          [{ ...token, origin: "http://evil.example" }, initialize, 403],
          [token, "no JSON", 400],
          [token, message("tools/list"), 400],
          [{ ...token, "mcp-session-id": "none" }, initialize, 404],
          [{ ...token, "content-length": `${64 * 1024 ** 2 + 1}` }, initialize, 413]
        ] as const)
          assert.strictEqual((yield* ask(headers, body)).status, status)
      })
  )

  it.scoped("ends a client that was idle for 30 minutes, unless it listens", () => {
    let now = Date.now()
    const clock = Object.assign(Clock.make(), {
      unsafeCurrentTimeMillis: () => now,
      currentTimeMillis: Effect.sync(() => now),
      sleep: () => tick
    })
    const later = Effect.suspend(() => {
      now += 32 * 60_000
      return Effect.repeatN(tick, 9)
    })
    return Effect.gen(function* () {
      const { ask, begin } = yield* serving()
      const [idle, listening] = [(yield* ask({}, initialize)).session, (yield* ask({}, initialize)).session]
      const { answered, request } = begin(listening)
      assert.strictEqual((yield* Effect.promise(() => answered)).statusCode, 200)
      yield* later
      assert.strictEqual((yield* ask(idle, message("ping"))).status, 404)
      assert.strictEqual((yield* ask(listening, message("ping"))).status, 200)
      request.destroy()
      while ((yield* ask(listening, message("ping"))).status !== 404) yield* later
    }).pipe(Effect.withClock(clock))
  })

  it.scoped("ends the command of a client that goes away", () =>
    Effect.gen(function* () {
      const { ask, begin, events } = yield* serving()
      const { session } = yield* ask({}, initialize)
      const { answered, request } = begin(session, message("tools/call", { name: "Bash", arguments: {} }))
      answered.catch(() => {})
      while (events.length === 0) yield* tick
      request.destroy()
      while (events.length === 1) yield* tick
      assert.deepStrictEqual(events, ["begun", "ended"])
    })
  )
})
