import * as os from "node:os"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { McpProgress } from "../../../src/extension/mcp/McpClient.js"
import * as Servers from "../../support/mcp/Servers.js"

/** The messages of a call of this tool of a server with these modes. */
const failure = (modes: ReadonlyArray<string>, tool: string, settings = {}, timeout?: number) =>
  Servers.using((world, client) => {
    world.entries.push(world.odd("odd", ...modes))
    return Effect.flip(client.call("odd", tool, {}, { timeout }))
  }, settings)

describe("McpConnection", () => {
  it("gives the server what an answer holds, and nothing that is no block", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd", "noisy"))
        const args = { text: "ü\n\u0000\ud83d\ude00", deep: [{ a: null }], n: 1.5 }
        assert.strictEqual(Servers.textOf(yield* client.call("odd", "echo", args)), JSON.stringify(args))
        assert.deepStrictEqual(yield* client.call("odd", "blocks", {}), {
          content: [
            { type: "text", text: "a" },
            { type: "hologram", data: 1 }
          ],
          structuredContent: { a: 1 }
        })
        assert.deepStrictEqual(yield* client.call("odd", "wrong", {}), {
          content: [{ type: "text", text: "it went wrong" }],
          isError: true
        })
        assert.strictEqual(Servers.textOf(yield* client.call("odd", "noise", {})), "after the noise")
      })
    ))

  it("takes an answer of 8 MB, while others are answered", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const bytes = 8 * 1024 ** 2
        const [big, small] = yield* Effect.all([client.call("odd", "big", { bytes }), client.call("odd", "echo", {})], {
          concurrency: "unbounded"
        })
        assert.strictEqual(Servers.textOf(big).length, bytes)
        assert.strictEqual(Servers.textOf(small), "{}")
      })
    ))

  it("ends a server whose message has no end", async () => {
    const { message } = await failure([], "huge")
    assert.include(message, "The MCP server odd ended during the call of huge (a message of more than 64 MiB).")
  })

  it("says what a server refuses, with its control characters visible", async () => {
    const { message } = await failure([], "refuse")
    assert.strictEqual(message, 'The MCP server odd failed at the call of refuse: "count: must be \\u001b[1ma number"')
  })

  it("says at once that an answer holds no result, or a too deep one", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const answer = (rest: string) => client.call("odd", "answer", { line: `{"jsonrpc":"2.0","id":ID,${rest}}` })
        for (const rest of ['"result":"x"', '"result":null', '"result":[]', '"error":"x"', '"other":1']) {
          assert.strictEqual(
            (yield* Effect.flip(answer(rest))).message,
            "The MCP server odd failed at the call of answer: answered with something that is no result"
          )
        }
        const odd = yield* answer('"result":{"content":[{"type":"text","text":"a"}],"_meta":5},"more":1')
        assert.strictEqual(Servers.textOf(odd), "a")
        assert.strictEqual(
          (yield* Effect.flip(client.call("odd", "deep", {}))).message,
          "The MCP server odd failed at the call of deep: its answer is nested deeper than 500 levels. It may have had its effect."
        )
        assert.strictEqual(Servers.textOf(yield* client.call("odd", "echo", {})), "{}")
      })
    ))

  it("goes on with a server that asks without end, and cancels its calls", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const fiber = yield* Effect.fork(client.call("odd", "flood", {}))
        yield* Servers.until(() => world.log("odd").includes("call flood"))
        yield* Effect.repeatN(client.call("odd", "echo", {}), 5)
        yield* Fiber.interrupt(fiber)
        yield* Servers.until(() => world.log("odd").some((line) => line.startsWith("cancelled")))
      })
    ))

  it("uses a server that does not answer whether it has begun", () =>
    Servers.using(
      (world, client) =>
        Effect.gen(function* () {
          world.entries.push(world.odd("odd", "deaf"))
          assert.strictEqual(Servers.textOf(yield* client.call("odd", "echo", {})), "{}")
        }),
      { connectTimeout: 500 }
    ))

  it("tells of progress", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const heard: Array<McpProgress> = []
        yield* client.call("odd", "progress", {}, { onProgress: (progress) => heard.push(progress) })
        assert.deepStrictEqual(
          heard,
          [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }))
        )
      })
    ))

  it("cancels a call that takes too long, and one that is interrupted, at a server that goes on", () =>
    Servers.using(
      (world, client) =>
        Effect.gen(function* () {
          world.entries.push(world.odd("odd"))
          const pid = Servers.textOf(yield* client.call("odd", "pid", {}))
          const late = yield* Effect.flip(client.call("odd", "hang", {}))
          assert.strictEqual(late.exitCode, 124)
          assert.strictEqual(
            late.message,
            "Command execution timeout: the MCP server odd gave neither an answer nor progress to the call of hang for 200 ms, so the call was cancelled.\nTo wait longer, give timeout=<ms>; without it, SYNAPSE_MCP_TIMEOUT sets this limit."
          )
          const own = yield* Effect.flip(client.call("odd", "hang", {}, { timeout: 10 }))
          assert.match(own.message, /for 10 ms, so the call was cancelled\.\nTo wait longer, give timeout=<ms>; /)
          const cancelled = () => world.log("odd").filter((line) => line.startsWith("cancelled"))
          yield* Servers.until(() => cancelled().length === 2)

          const calls = () => world.log("odd").filter((line) => line === "call hang").length
          const fiber = yield* Effect.fork(client.call("odd", "hang", {}, { timeout: 20_000 }))
          yield* Servers.until(() => calls() === 3)
          yield* Fiber.interrupt(fiber)
          yield* Servers.until(() => cancelled().length === 3)
          assert.strictEqual(Servers.textOf(yield* client.call("odd", "pid", {}, { timeout: 20_000 })), pid)
        }),
      { timeout: 200 }
    ))

  it("tells the working directory as the root, and declines what nobody can answer", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const declined = (method: string) => ({
          code: -32601,
          message: `Synapse does not answer ${method}: nobody is there to do so`
        })
        assert.deepStrictEqual(JSON.parse(Servers.textOf(yield* client.call("odd", "ask", {}))), [
          { roots: [{ uri: pathToFileURL(world.root).href, name: "work" }] },
          declined("sampling/createMessage"),
          declined("elicitation/create")
        ])
      })
    ))

  it("says why a server did not become ready", async () => {
    const hanging = await failure(["hang", "noisy"], "echo", { connectTimeout: 500 })
    assert.strictEqual(hanging.exitCode, 124)
    assert.strictEqual(
      hanging.message,
      "Command execution timeout: the MCP server odd did not become ready within 500 ms and was ended.\nIts last words:\n  Starting…\nSYNAPSE_MCP_CONNECT_TIMEOUT sets this limit."
    )
    const broken = await failure(["broken"], "echo")
    assert.strictEqual(
      broken.message,
      "The MCP server odd ended before it was ready: exit code 1.\nIts last words:\n  Error: Cannot find module 'left-pad'"
    )
    const refusing = await failure(["refusing"], "echo")
    assert.strictEqual(refusing.message, 'The MCP server odd did not begin the protocol: "licence expired".')
  })

  it("says which program is not there, and in which file it is named", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const file = path.join(world.root, "mcp_servers.json")
        world.entries.push(Servers.node(world, "a", [], { command: "no-such-program" }))
        world.entries.push(Servers.node(world, "b", [], { command: "./missing" }))
        world.entries.push(Servers.node(world, "c", [], { cwd: path.join(world.root, "nowhere") }))
        world.entries.push(Servers.node(world, "d", [], { command: `${process.execPath} x.mjs --a` }))
        const messages = yield* Effect.forEach(["a", "b", "c", "d"], (name) => Effect.flip(client.tools(name)))
        assert.deepStrictEqual(
          messages.map(({ message }) => message),
          [
            `The MCP server a can't be started: there is no program no-such-program (its entry in ${file}).`,
            `The MCP server b can't be started: there is no program ./missing (its entry in ${file}).`,
            `The MCP server c can't be started: there is no directory ${path.join(world.root, "nowhere")} (its entry in ${file}).`,
            `The MCP server d can't be started: there is no program ${process.execPath} x.mjs --a. Write "command": "${process.execPath}", "args": ["x.mjs","--a"] (its entry in ${file}).`
          ]
        )
      })
    ))

  it("gives a server its own variables and a few harmless ones", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        process.env["SYNAPSE_TEST_SECRET"] = "secret"
        world.entries.push({ ...world.odd("odd"), env: { TOKEN: "1", HOME: os.tmpdir() } } as never)
        const variables = JSON.parse(Servers.textOf(yield* client.call("odd", "env", {})))
        delete process.env["SYNAPSE_TEST_SECRET"]
        assert.includeMembers(["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TOKEN"], Object.keys(variables))
        assert.deepInclude(variables, { TOKEN: "1", HOME: os.tmpdir() })
      })
    ))
})
