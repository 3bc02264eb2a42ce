import type * as Http from "node:http"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServers from "../../support/mcp/Http.js"
import * as Servers from "../../support/mcp/Servers.js"

/** The message of the failure to list the tools of a server that answers so. */
const refusal = (handler: Http.RequestListener, headers = {}) =>
  Servers.using((world, client) =>
    Effect.gen(function* () {
      const url = yield* HttpServers.listen(handler)
      world.entries.push(HttpServers.entry("far", url, headers))
      const { message } = yield* Effect.flip(client.tools("far"))
      return message.replaceAll(url, "URL").replaceAll(world.root, "ROOT")
    })
  )

const ok = (id: unknown, response: Http.ServerResponse, text: string) => {
  response.writeHead(200, { "content-type": "application/json" })
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } }))
}

describe("HttpTransport", () => {
  it("calls a real server that wants a header, and says so where it is missing or wrong", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const url = yield* HttpServers.guarded("x-token", "right")
        world.entries.push(
          HttpServers.entry("right", url, { "X-Token": "right" }),
          HttpServers.entry("wrong", url, { "X-Token": "wrong" })
        )
        const answer = yield* client.call("right", "echo", { message: "hello" })
        assert.strictEqual(Servers.textOf(answer), "Echo: hello")
        const error = yield* Effect.flip(client.call("wrong", "echo", { message: "hello" }))
        assert.strictEqual(
          error.message,
          `The MCP server wrong refuses the connection (HTTP 401: "who are you?"): a header is missing or wrong in the "headers" of its entry in ${path.join(world.root, "mcp_servers.json")}.`
        )
      })
    ))

  it("says that a server wants a login", async () => {
    const handler: Http.RequestListener = (_, response) =>
      response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://a.b/c"' }).end()
    assert.strictEqual(
      await refusal(handler),
      "The MCP server far wants a login. The user runs, in a terminal: synapse mcp login far"
    )
    assert.strictEqual(
      await refusal(handler, { Authorization: "Bearer old" }),
      'The MCP server far refuses the connection (HTTP 401): a header is missing or wrong in the "headers" of its entry in ROOT/mcp_servers.json.'
    )
  })

  it("says what else is at the address", async () => {
    assert.strictEqual(
      await refusal((_, response) => response.writeHead(405).end("Method \u001b[1mNot Allowed")),
      'The MCP server far does not speak streamable HTTP at URL (HTTP 405: "Method \\u001b[1mNot Allowed"); the older HTTP+SSE transport is not supported. Its "url" is in ROOT/mcp_servers.json.'
    )
    assert.strictEqual(
      await refusal((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")),
      'The MCP server far is not what answers at URL ("Unexpected content type: text/html"). Its "url" is in ROOT/mcp_servers.json.'
    )
    assert.match(
      await refusal((request) => request.socket.destroy()),
      /^The MCP server far can't be reached at URL: "fetch failed: /
    )
  })

  it("does not wait for ever for a server that hangs at any step", async () => {
    for (const silent of ["initialize", "notifications/initialized"]) {
      const error = await Servers.using(
        (world, client) =>
          Effect.gen(function* () {
            const url = yield* HttpServers.listen(HttpServers.speaking(() => {}, silent))
            world.entries.push(HttpServers.entry("far", url))
            return yield* Effect.flip(client.tools("far"))
          }),
        { connectTimeout: 300 }
      )
      assert.include(error.message, "the MCP server far did not become ready within 300 ms")
    }
  })

  it("does not wait for an answer whose stream has ended", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const url = yield* HttpServers.listen(
          HttpServers.speaking((_, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            response.end(": nothing\n\n")
          })
        )
        world.entries.push(HttpServers.entry("far", url))
        assert.strictEqual(
          (yield* Effect.flip(client.call("far", "do", {}))).message,
          "The MCP server far failed at the call of do: the connection ended without an answer, and it may have had its effect"
        )
      })
    ))

  it("reads no more than the beginning of what tells of a failure", async () => {
    let written = 0
    const endless: Http.RequestListener = (_, response) => {
      response.writeHead(500)
      const more = () => {
        while (!response.destroyed && response.write("boom ".repeat(10_000))) written += 50_000
        response.once("drain", more)
      }
      more()
    }
    const message = await refusal(endless)
    assert.match(message, /^The MCP server far can't be reached at URL: HTTP 500: "(boom ){39}bo{0,2}m?…"\.$/)
    assert.isBelow(written, 64 * 1024 ** 2)
  })

  it("says that an answer holds no result, or a too deep one", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const deep = `{"structuredContent":${"[".repeat(50_000)}${"]".repeat(50_000)}}`
        const results = ['"x"', deep]
        const url = yield* HttpServers.listen(
          HttpServers.speaking((id, response) => {
            response.writeHead(200, { "content-type": "application/json" })
            response.end(`{"jsonrpc":"2.0","id":${id},"result":${results.shift()}}`)
          })
        )
        world.entries.push(HttpServers.entry("far", url))
        const failed = "The MCP server far failed at the call of do: "
        const message = Effect.map(Effect.flip(client.call("far", "do", {})), ({ message }) => message)
        assert.strictEqual(yield* message, `${failed}answered with something that is no result`)
        assert.strictEqual(
          yield* message,
          `${failed}its answer is nested deeper than 500 levels. It may have had its effect.`
        )
      })
    ))

  it("has its turns while a stream of events has no end", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const event =
          'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n'
        const closed = yield* Deferred.make<void>()
        const url = yield* HttpServers.listen(
          HttpServers.speaking((_, response) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            const more = () => {
              while (!response.destroyed && response.write(event.repeat(500))) {}
              response.once("drain", more)
            }
            response.once("close", () => Deferred.unsafeDone(closed, Effect.void))
            more()
          })
        )
        world.entries.push(HttpServers.entry("far", url))
        const fiber = yield* Effect.fork(client.call("far", "do", {}))
        // The server is in this process: its turns are ours.
        yield* Effect.repeatN(client.tools("far", { refresh: true }), 5)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(closed)
      })
    ))

  it("begins a new session where the server has forgotten it, once", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        let current = 0
        const url = yield* HttpServers.listen((request, response) => {
          const session = String(request.headers["mcp-session-id"])
          if (session !== "undefined" && session !== String(current)) {
            request.resume()
            return response.writeHead(404).end("no such session")
          }
          response.setHeader("mcp-session-id", current)
          return HttpServers.speaking((id, response) => {
            seen.push(session)
            ok(id, response, `session ${session}`)
          })(request, response)
        })
        world.entries.push(HttpServers.entry("far", url))
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "session 0")
        current = 1
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "session 1")
        assert.deepStrictEqual(seen, ["0", "1"])
      })
    ))

  it("takes an answer of 8 MB, and none over the limit", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const sizes = [8, 80]
        const url = yield* HttpServers.listen(
          HttpServers.speaking((id, response) => ok(id, response, "x".repeat((sizes.shift() ?? 0) * 1024 ** 2)))
        )
        world.entries.push(HttpServers.entry("far", url))
        assert.lengthOf(Servers.textOf(yield* client.call("far", "do", {})), 8 * 1024 ** 2)
        const error = yield* Effect.flip(client.call("far", "do", {}))
        assert.include(error.message, "a message of more than 64 MiB")
      })
    ))
})
