import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as Servers from "../../support/mcp/Servers.js"

const starts = (log: ReadonlyArray<string>) => log.filter((line) => line.startsWith("start"))

describe("LiveMcpClient", () => {
  it("starts a server on the first call, once for calls at the same time, and ends it with the scope", async () => {
    let pid = 0
    await Servers.within((world) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* Servers.client(world)
            world.entries.push(world.odd("odd"))
            assert.deepStrictEqual(yield* client.servers, [world.odd("odd").server])
            assert.deepStrictEqual(world.log("odd"), [])
            const calls = Array.from({ length: 50 }, (_, n) => client.call("odd", "echo", { n }))
            const answers = yield* Effect.all(calls, { concurrency: "unbounded" })
            assert.deepStrictEqual(
              answers.map(Servers.textOf),
              answers.map((_, n) => `{"n":${n}}`)
            )
            pid = Number(Servers.textOf(yield* client.call("odd", "pid", {})))
            assert.deepStrictEqual(starts(world.log("odd")), [`start ${pid}`])
            assert.isTrue(Servers.isAlive(pid))
          })
        )
        assert.isFalse(Servers.isAlive(pid))
      })
    )
  })

  it("does not repeat a call during which its server crashed, and starts the server anew for the next", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const error = yield* Effect.flip(client.call("odd", "crash", {}))
        assert.strictEqual(error._tag, "ExecutionFailed")
        assert.strictEqual(
          error.message,
          "The MCP server odd ended during the call of crash (exit code 7). It may have had its effect, so it was not repeated; the next call starts the server anew.\nIts last words:\n  panic: \\u001b[31mout of cheese\\u001b[0m"
        )
        assert.strictEqual(Servers.textOf(yield* client.call("odd", "echo", {})), "{}")
        assert.deepStrictEqual(
          world.log("odd").filter((line) => line.startsWith("call")),
          ["call crash", "call echo"]
        )
        assert.lengthOf(starts(world.log("odd")), 2)
        assert.include((yield* Effect.flip(client.call("odd", "die", {}))).message, "(SIGKILL)")
      })
    ))

  it("connects anew where the server has ended between two calls", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const first = Number(Servers.textOf(yield* client.call("odd", "pid", {})))
        process.kill(first, "SIGKILL")
        yield* Servers.until(() => !Servers.isAlive(first))
        const calls = Array.from({ length: 5 }, () => client.call("odd", "pid", {}))
        const pids = new Set((yield* Effect.all(calls, { concurrency: "unbounded" })).map(Servers.textOf))
        assert.strictEqual(pids.size, 1)
        assert.lengthOf(starts(world.log("odd")), 2)
      })
    ))

  it("closes a connection whose entry has changed, or is not trusted any more", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const first = Number(Servers.textOf(yield* client.call("odd", "pid", {})))
        world.entries[0] = world.odd("odd", "other")
        const second = Number(Servers.textOf(yield* client.call("odd", "pid", {})))
        assert.notStrictEqual(second, first)
        yield* Servers.until(() => !Servers.isAlive(first))

        const hanging = yield* Effect.fork(Effect.flip(client.call("odd", "hang", {})))
        yield* Servers.until(() => world.log("odd").includes("call hang"))
        world.entries[0] = McpEntry.Unusable({
          server: Servers.server("odd"),
          fingerprint: "f",
          reason: "untrusted",
          problem: "its file is not trusted",
          denial: { file: "/f", why: "it has changed" }
        })
        yield* client.servers
        assert.include((yield* Fiber.join(hanging)).message, "ended during the call of hang")
        yield* Servers.until(() => !Servers.isAlive(second))
        const error = yield* Effect.flip(client.call("odd", "pid", {}))
        assert.strictEqual(error._tag, "Blocked")
        assert.include(error.message, "mcp:odd (rule /f: it has changed)")
        assert.deepStrictEqual(client.known(), [])
      })
    ))

  it("lists without starting what was listed before, until asked to refresh or the server has another version", () =>
    Servers.within((world) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const tools = yield* Effect.scoped(Effect.flatMap(Servers.client(world), (client) => client.tools("odd")))
        assert.deepStrictEqual(tools[0], {
          server: "odd",
          name: "echo",
          description: "Does echo.",
          inputSchema: { type: "object", properties: {} }
        })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* Servers.client(world)
            assert.deepStrictEqual(client.known(), tools)
            assert.strictEqual(client.known(), client.known())
            assert.deepStrictEqual(yield* client.tools("odd"), tools)
            assert.lengthOf(starts(world.log("odd")), 1)
            yield* client.call("odd", "echo", {})
            assert.deepStrictEqual(
              world.log("odd").filter((line) => line === "list"),
              ["list"]
            )
            yield* client.tools("odd", { refresh: true })
            assert.lengthOf(
              world.log("odd").filter((line) => line === "list"),
              2
            )
          })
        )
        fs.writeFileSync(path.join(world.directory, "odd.log.version"), "2")
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* Servers.client(world)
            yield* client.call("odd", "echo", {})
            assert.lengthOf(
              world.log("odd").filter((line) => line === "list"),
              3
            )
          })
        )
      })
    ))

  it("knows them a moment later where reading the configuration takes one", () =>
    Servers.within((world) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const tools = yield* Effect.scoped(Effect.flatMap(Servers.client(world), (client) => client.tools("odd")))
        const slow = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
        yield* Effect.scoped(
          Effect.gen(function* () {
            const client = yield* Servers.client(world, {}, slow)
            assert.deepStrictEqual(client.known(), [])
            yield* Servers.until(() => client.known().length > 0)
            assert.deepStrictEqual(client.known(), tools)
          })
        )
      })
    ))

  it("looks at the tools once in a while where they change without end", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        yield* client.call("odd", "restless", {})
        const lists = () => world.log("odd").filter((line) => line === "list").length
        yield* Servers.until(() => lists() >= 2)
        yield* Effect.repeatN(client.call("odd", "echo", {}), 200)
        assert.isBelow(lists(), 20)
      })
    ))

  it("knows the tools that a server says are new", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        assert.deepStrictEqual(client.known(), [])
        const before = yield* client.tools("odd")
        assert.deepStrictEqual(client.known(), before)
        yield* client.call("odd", "grow", {})
        yield* Servers.until(() => client.known().some(({ name }) => name === "late"))
        assert.strictEqual(Servers.textOf(yield* client.call("odd", "late", {})), "late")
      })
    ))
})
