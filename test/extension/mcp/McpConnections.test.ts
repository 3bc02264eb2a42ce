import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { ExecutionFailed } from "../../../src/domain/CommandError.js"
import { Gone, type McpConnection, type Usable } from "../../../src/extension/mcp/internal/McpConnection.js"
import * as LiveMcpClient from "../../../src/extension/mcp/LiveMcpClient.js"
import { McpEntry } from "../../../src/extension/mcp/McpConfig.js"

const entry = (name: string, fingerprint = "f") =>
  McpEntry.Http({
    server: { name, source: "home", target: "" },
    fingerprint,
    url: "",
    headers: {}
  }) as Usable

/** Connections that are only noted; each opens when `gate` does. */
const make = (gate: Effect.Effect<void, ExecutionFailed> = Effect.void) =>
  Effect.gen(function* () {
    const notes: Array<string> = []
    let count = 0
    const connections = yield* LiveMcpClient.makeMcpConnections(({ server }) =>
      Effect.gen(function* () {
        const version = `${server.name}${++count}`
        notes.push(`open ${version}`)
        yield* Effect.addFinalizer(() => Effect.sync(() => notes.push(`close ${version}`)))
        yield* gate
        const changes = yield* Queue.unbounded<void>()
        const connection: McpConnection = {
          version,
          changes,
          list: Effect.succeed([]),
          call: () => Effect.succeed({ content: [] })
        }
        return connection
      })
    )
    return { connections, notes }
  })

const opened = (notes: ReadonlyArray<string>) => Effect.repeat(Effect.yieldNow(), { until: () => notes.length > 0 })

const version = ({ version }: McpConnection) => Effect.succeed(version)

/** The same, but for this one, which is gone. */
const versionBut =
  (dead: string) =>
  ({ version }: McpConnection) =>
    version === dead ? new Gone({ cause: "gone" }) : Effect.succeed(version)

describe("McpConnections", () => {
  it.scoped("opens one for all, another for another server, and a new one where it is dead", () =>
    Effect.gen(function* () {
      const { connections, notes } = yield* make(Effect.yieldNow())
      const all = Array.from({ length: 9 }, () => connections.use(entry("a"), version))
      assert.deepStrictEqual(new Set(yield* Effect.all(all, { concurrency: "unbounded" })), new Set(["a1"]))
      assert.strictEqual(yield* connections.use(entry("b"), version), "b2")
      const again = Array.from({ length: 9 }, () => connections.use(entry("a"), versionBut("a1")))
      assert.deepStrictEqual(new Set(yield* Effect.all(again, { concurrency: "unbounded" })), new Set(["a3"]))
      assert.deepStrictEqual(notes, ["open a1", "open b2", "close a1", "open a3"])
    })
  )

  it.scoped("tries once more where the server is gone, and not a third time", () =>
    Effect.gen(function* () {
      const { connections, notes } = yield* make()
      assert.strictEqual(yield* connections.use(entry("a"), versionBut("a1")), "a2")
      const error = yield* Effect.flip(connections.use(entry("b"), () => new Gone({ cause: "gone" })))
      assert.strictEqual(error.message, "The MCP server b ends as soon as it is asked, and was tried twice.")
      assert.lengthOf(
        notes.filter((note) => note.startsWith("open b")),
        2
      )
    })
  )

  it.scoped("lets go of one that could not be opened, and opens another the next time", () =>
    Effect.gen(function* () {
      const failed = new ExecutionFailed({ kind: "io", reason: "no" })
      const { connections, notes } = yield* make(Effect.fail(failed))
      const both = [connections.use(entry("a"), version), connections.use(entry("a"), version)]
      const errors = yield* Effect.all(both.map(Effect.flip), { concurrency: "unbounded" })
      assert.deepStrictEqual(errors, [failed, failed])
      assert.deepStrictEqual(notes, ["open a1", "close a1"])
      yield* Effect.flip(connections.use(entry("a"), version))
      assert.deepStrictEqual(notes.slice(2), ["open a2", "close a2"])
    })
  )

  it.scoped("goes on opening where its callers are interrupted, for the next call", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { connections, notes } = yield* make(Deferred.await(gate))
      const call = yield* Effect.fork(connections.use(entry("a"), version))
      yield* opened(notes)
      yield* Fiber.interrupt(call)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* connections.use(entry("a"), version), "a1")
      assert.deepStrictEqual(notes, ["open a1"])
    })
  )

  it.scoped("closes one whose entry has changed, also where it is in use", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { connections, notes } = yield* make()
      const use = (connection: McpConnection) => Effect.zipRight(Deferred.await(gate), version(connection))
      const call = yield* Effect.fork(connections.use(entry("a"), use))
      yield* opened(notes)
      yield* connections.retain([entry("a")])
      yield* Effect.yieldNow()
      assert.deepStrictEqual(notes, ["open a1"])
      yield* connections.retain([entry("a", "other")])
      yield* Effect.repeat(Effect.yieldNow(), { until: () => notes.includes("close a1") })
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(call), "a1")
      assert.strictEqual(yield* connections.use(entry("a", "other"), version), "a2")
      yield* connections.retain([])
      yield* Effect.repeat(Effect.yieldNow(), { until: () => notes.includes("close a2") })
    })
  )

  it("closes all of them with the scope", async () => {
    const notes = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const { connections, notes } = yield* make()
          yield* connections.use(entry("a"), version)
          yield* connections.use(entry("b"), version)
          return notes
        })
      )
    )
    assert.deepStrictEqual(notes.slice(2).toSorted(), ["close a1", "close b2"])
  })
})
