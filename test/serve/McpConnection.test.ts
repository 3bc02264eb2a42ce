import { assert, describe, it } from "@effect/vitest"
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as Permission from "../../src/sandbox/permission/Permission.js"
import * as McpConnection from "../../src/serve/McpConnection.js"
import { Toolset } from "../../src/toolset/Toolset.js"

const request: Permission.PermissionRequest = {
  resource: "/project/.env",
  access: "read",
  rule: { kind: "glob", pattern: "**/.env", path: "**/.env", source: "user" },
  command: "cat .env",
  reason: "it is hidden"
}

interface Answer {
  readonly result?: { readonly content?: ReadonlyArray<{ readonly text: string }>; readonly requestState?: string }
}

/** A connection whose only command asks for permission, and answers with what it is told. `gate` opens its session. */
const connected = (gate: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const roots: Array<string | undefined> = []
    const told: Array<string> = []
    const { server } = yield* McpConnection.make({
      tools: Effect.succeed([]),
      open: (root, permission = Permission.layerNone) => {
        roots.push(root)
        const handle = ({ ask }: Context.Tag.Service<Permission.Permission>) =>
          ask(request).pipe(
            Effect.onExit((exit) => Effect.sync(() => told.push(exit._tag === "Success" ? exit.value : "cancelled"))),
            Effect.map((output) => ({ output, isError: false, extras: {} }) as never)
          )
        const made = Effect.map(Permission.Permission, (permission) =>
          Toolset.of({ tools: [], handle: () => handle(permission), cancel: () => Effect.succeed(false) })
        )
        return Layer.provide(Layer.effect(Toolset, Effect.zipLeft(made, gate)), permission)
      },
      words: String
    })
    const [client, transport] = InMemoryTransport.createLinkedPair()
    const handle = serveStdio(() => server, { transport })
    yield* Effect.addFinalizer(() => Effect.promise(() => handle.close()))
    const answers = new Map<unknown, (answer: Answer) => void>()
    client.onmessage = (message) => "id" in message && answers.get(message.id)?.(message as Answer)
    yield* Effect.promise(() => client.start())
    const send = (message: object) =>
      Effect.promise(() => client.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage))
    const call = (capabilities: object, more: object = {}) =>
      Effect.gen(function* () {
        const id = answers.size
        const answered = new Promise<Answer>((resolve) => answers.set(id, resolve))
        const _meta = {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": capabilities
        }
        yield* send({ id, method: "tools/call", params: { name: "Bash", arguments: {}, _meta, ...more } })
        const { result = {} } = yield* Effect.promise(() => answered)
        return { requestState: result.requestState, text: result.content?.[0]?.text ?? "" }
      })
    return { call, roots, send, told }
  })

const asks = { elicitation: { form: {} } }

const tick = Effect.promise(() => new Promise(setImmediate))

describe("an MCP connection", () => {
  it.scoped("takes one answer to a question, of those that it offers", () =>
    Effect.gen(function* () {
      const { call } = yield* connected()
      for (const [action, answer, effect] of [
        ["accept", "allow_session", "allow_session"],
        ["accept", "allow_permanent", "deny"],
        ["decline", "allow_session", "deny"]
      ] as const) {
        const { requestState } = yield* call(asks)
        const said = { requestState, inputResponses: { permission: { action, content: { answer } } } }
        const [first, second] = yield* Effect.all([call(asks, said), call(asks, said)], { concurrency: 2 })
        assert.strictEqual(first.text, effect)
        assert.match(second.text, /No call waits for this answer/)
      }
    })
  )

  it.scoped("denies what nobody answers in ten minutes, and what its client can't ask", () =>
    Effect.gen(function* () {
      const { call, told } = yield* connected()
      yield* call(asks)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(told, ["deny"])
      const unable = yield* connected()
      assert.strictEqual((yield* unable.call({})).text, "deny")
    })
  )

  it.scoped("opens its session in the client's first directory", () =>
    Effect.gen(function* () {
      const { call, roots } = yield* connected()
      const { requestState } = yield* call({ roots: {} })
      const given = { roots: [{ uri: "https://example.com/" }, { uri: "file:///project" }] }
      yield* call({ roots: {} }, { requestState, inputResponses: { roots: given } })
      assert.deepStrictEqual(roots, ["/project"])
    })
  )

  it.scoped("ends a call that is cancelled while its session opens", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { call, roots, send, told } = yield* connected(Deferred.await(gate))
      yield* Effect.fork(call(asks))
      while (roots.length === 0) yield* tick
      yield* send({ method: "notifications/cancelled", params: { requestId: 0 } })
      yield* tick
      yield* Deferred.succeed(gate, undefined)
      while (told.length === 0) yield* tick
      assert.deepStrictEqual(told, ["cancelled"])
    })
  )
})
