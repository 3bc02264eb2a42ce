import * as Http from "node:http"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type { Endpoint } from "../../../src/agent/model/internal/Endpoint.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"

const whole = ModelServer.text("All ", "of it.")
const once: Partial<Endpoint> = { retry: { retries: 0, first: 1, longest: 1, longestAsked: 10_000 } }

describe.each(Models.kinds)("a model behind the protocol of %s", (kind) => {
  it.scopedLive.each([
    ["429 with retry-after", ModelServer.status(429, { "retry-after": "0.05" })],
    ["429 with a date", ModelServer.status(429, { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" })],
    ["500", ModelServer.status(500)],
    ["503 with a page", ModelServer.status(503, {}, "<html>sorry</html>")],
    ["529", ModelServer.status(529)],
    ["408", ModelServer.status(408)],
    ["a connection that is reset", ModelServer.reset],
    ["a connection that is cut within the answer", ModelServer.answer({ text: ["Ha", "lf"], cut: 4 })],
    ["an answer that ends early", ModelServer.answer({ text: ["Ha", "lf"], short: 3 })],
    ["an empty answer", ModelServer.raw("")],
    ["an answer that is no JSON", ModelServer.raw("data: hello\n\n")]
  ] as const)("is asked again after %s", ([, reply]) =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([reply, whole])
      const parts = yield* Models.ask(server, kind)
      const after = parts.slice(parts.findIndex((part) => part._tag === "Retrying"))
      assert.deepStrictEqual(Models.shown(after), [
        ["Retrying", 1],
        ["Text", "All "],
        ["Text", "of it."],
        ["Finished", "stop", "All of it.", []]
      ])
      assert.lengthOf(server.requests, 2)
    })
  )

  it.scopedLive("gives up in the end, with the last reason", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve(() => ModelServer.status(529))
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.deepStrictEqual([error.kind, error.status], ["overloaded", 529])
      assert.strictEqual(error.reason, `${kind} can't answer now (529: refused with 529)`)
      assert.lengthOf(server.requests, 4)
    })
  )

  it.scopedLive.each([
    [400, "bad_request"],
    [401, "auth"],
    [402, "refused"],
    [403, "auth"],
    [404, "bad_request"],
    [413, "context_length"],
    [422, "bad_request"]
  ] as const)("is not asked again after %s", ([status, expected]) =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve(() => ModelServer.status(status))
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.deepStrictEqual([error.kind, error.status, error.isRetryable], [expected, status, false])
      assert.lengthOf(server.requests, 1)
    })
  )

  it.scopedLive("is not waited for longer than is sensible, and not at once where it asks to wait", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve(() => ModelServer.status(429, { "retry-after": "3600" }))
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.deepStrictEqual([error.kind, error.retryAfter], ["rate", 3_600_000])
      assert.lengthOf(server.requests, 1)
    })
  )

  it.scopedLive("names the setting of a key that is refused, and shows no key that the provider repeats", () =>
    Effect.gen(function* () {
      const message = `invalid key ${ModelServer.key}\u001b[31m`
      const server = yield* ModelServer.serve([ModelServer.status(401, {}, { error: { message } })])
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.strictEqual(
        error.reason,
        `${kind} refuses the key (401: invalid key <redacted>\\u001b[31m): set another one by TEST_API_KEY`
      )
    })
  )

  it.scopedLive("is given up where it says nothing", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.silence])
      const error = yield* Effect.flip(Models.ask(server, kind, { endpoint: { ...once, timeout: 100 } }))
      assert.strictEqual(error.kind, "timeout")
      yield* server.quiet
    })
  )

  it.scopedLive("is given up where it falls silent within its answer", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.raw(": hello\n\n", { after: "stay" })])
      const error = yield* Effect.flip(Models.ask(server, kind, { endpoint: { ...once, timeout: 100 } }))
      assert.strictEqual(error.kind, "timeout")
      yield* server.quiet
    })
  )

  it.scopedLive.each([": ping\n\n", 'event: ping\ndata: {"type":"ping"}\n\n'])(
    "is given up where it only sends %j",
    (ping) =>
      Effect.gen(function* () {
        const server = yield* ModelServer.serve([ModelServer.raw(ping, { after: "again" })])
        const error = yield* Effect.flip(Models.ask(server, kind, { endpoint: { ...once, timeout: 200 } }))
        assert.strictEqual(error.kind, "timeout")
        yield* server.quiet
      })
  )

  it.scopedLive.each([
    ["text/html", "<html></html>", "<html></html>"],
    ["application/json", '{"error":{"message":"no such route"}}', "no such route"]
  ] as const)("is told apart from an answer of the type %s in its place", ([type, text, words]) =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([ModelServer.raw(text, { type })])
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.deepStrictEqual(
        [error.kind, error.reason],
        ["bad_request", `${kind} does not answer as a model (200: ${words}): check TEST_BASE_URL`]
      )
    })
  )

  it.scopedLive("gets no key at another place that its server redirects to", () =>
    Effect.gen(function* () {
      const other = yield* ModelServer.serve([whole])
      const server = yield* ModelServer.serve([
        ModelServer.status(307, { location: `${other.url.replace("//", "//user:secret@")}/v1/x` })
      ])
      const error = yield* Effect.flip(Models.ask(server, kind))
      assert.strictEqual(error.kind, "bad_request")
      assert.include(error.reason, `${kind} redirects to ${other.url}/v1/x: set that address by TEST_BASE_URL`)
      assert.lengthOf(other.requests, 0)
    })
  )

  it.scopedLive("ends its answer where it sends an error within it", () =>
    Effect.gen(function* () {
      const error = { type: "overloaded_error", message: "Overloaded" }
      const event = kind === "openai" ? { ...error, type: "error" } : { type: "error", error }
      const server = yield* ModelServer.serve([ModelServer.raw(`data: ${JSON.stringify(event)}\n\n`), whole])
      const parts = yield* Models.ask(server, kind)
      const [first] = parts
      assert.strictEqual(first?._tag === "Retrying" && first.error.reason, `${kind} can't answer now (Overloaded)`)
    })
  )

  it.scopedLive("lets go of the connection when it is interrupted, before its answer and within it", () =>
    Effect.gen(function* () {
      for (const reply of [ModelServer.silence, ModelServer.raw(": hello\n\n", { after: "stay" })]) {
        const come = yield* Deferred.make<void>()
        const server = yield* ModelServer.serve(() => {
          Deferred.unsafeDone(come, Effect.void)
          return reply
        })
        const asking = yield* Effect.fork(Models.ask(server, kind))
        yield* Deferred.await(come)
        yield* Fiber.interrupt(asking)
        yield* server.quiet
      }
    })
  )
})

describe("an endpoint", () => {
  it.scopedLive("that is not there is named, with the setting of its address", () =>
    Effect.gen(function* () {
      // The port of a server that has gone.
      const url = yield* Effect.scoped(Effect.map(ModelServer.serve([]), ({ url }) => url))
      const error = yield* Effect.flip(Models.ask({ url }, "compatible"))
      assert.deepStrictEqual(
        [error.kind, error.reason],
        ["transport", `No connection to compatible at ${url}/v1 (ECONNREFUSED): check TEST_BASE_URL`]
      )
    })
  )

  it.scopedLive("whose answer has no end is given up at a bound", () =>
    Effect.gen(function* () {
      const server = yield* endless("data: ", "x".repeat(1024 ** 2))
      const error = yield* Effect.flip(Models.ask(server, "compatible", { endpoint: once }))
      assert.strictEqual(error.reason, "The answer of compatible is larger than 67108864 bytes")
    })
  )

  it.scopedLive("whose many small events have no end is given up at a bound", () =>
    Effect.gen(function* () {
      const server = yield* endless("", `: ${"x".repeat(1024 ** 2)}\n`)
      const error = yield* Effect.flip(Models.ask(server, "anthropic", { endpoint: once }))
      assert.strictEqual(error.reason, "The answer of anthropic is larger than 67108864 bytes")
    })
  )

  it.scopedLive("whose refusal has no end is read only in part", () =>
    Effect.gen(function* () {
      const server = yield* endless("", "x".repeat(1024 ** 2), 400)
      const error = yield* Effect.flip(Models.ask(server, "openai"))
      assert.strictEqual(error.status, 400)
      assert.isBelow(error.reason.length, 600)
    })
  )

  it.scopedLive("that says its request is too long is understood", () =>
    Effect.gen(function* () {
      const tooLong = (error: object) => ModelServer.status(400, {}, { error })
      const server = yield* ModelServer.serve([
        tooLong({ type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" }),
        tooLong({ type: "invalid_request_error", code: "context_length_exceeded", message: "too long" }),
        tooLong({ message: "the request exceeds the available context size" }),
        tooLong({ type: "invalid_request_error", message: "temperature is wrong" })
      ])
      const kinds = yield* Effect.forEach(["anthropic", "openai", "compatible", "compatible"] as const, (kind) =>
        Effect.map(Effect.flip(Models.ask(server, kind)), (error) => error.kind)
      )
      assert.deepStrictEqual(kinds, ["context_length", "context_length", "context_length", "bad_request"])
    })
  )

  it.scopedLive("whose account has no credit is not asked again", () =>
    Effect.gen(function* () {
      const error = { error: { code: "insufficient_quota", message: "You exceeded your current quota" } }
      const server = yield* ModelServer.serve(() => ModelServer.status(429, {}, error))
      const failure = yield* Effect.flip(Models.ask(server, "openai"))
      assert.strictEqual(failure.kind, "refused")
      assert.lengthOf(server.requests, 1)
    })
  )

  it.scopedLive("shows the values of its headers in no error", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([
        ModelServer.status(400, {}, { error: { message: "bad secret-value-1" } })
      ])
      const headers = { "x-gate": Redacted.make("Basic secret-value-1") }
      const error = yield* Effect.flip(Models.ask(server, "compatible", { endpoint: { headers, key: undefined } }))
      assert.strictEqual(error.reason, "compatible finds the request wrong (400: bad <redacted>)")
      assert.strictEqual(server.requests[0]?.headers["x-gate"], "Basic secret-value-1")
      assert.isUndefined(server.requests[0]?.headers.authorization)
    })
  )

  it.scopedLive("gets no headers of a trace", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve([whole])
      yield* Effect.withSpan(Models.ask(server, "compatible"), "a span")
      assert.notIncludeMembers(Object.keys(server.requests[0]?.headers ?? {}), ["traceparent", "b3"])
    })
  )
})

/** A server that writes without end; it takes a request only to its head. */
const endless = (start: string, part: string, status = 200) =>
  Effect.acquireRelease(
    Effect.async<Http.Server>((resume) => {
      const more = Buffer.from(part)
      const server = Http.createServer((request, response) => {
        request.resume()
        response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "text/plain" })
        response.write(start)
        const write = () => {
          if (response.destroyed) return
          if (response.write(more)) setImmediate(write)
          else response.once("drain", write)
        }
        write()
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.async<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` }
    })
  )
