import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as Mcp from "../../../src/commands/mcp/Mcp.js"
import { ExecutionFailed } from "../../../src/domain/CommandError.js"
import type { McpClient } from "../../../src/extension/mcp/McpClient.js"

const server = (name: string, problem?: string) => ({
  name,
  source: "home" as const,
  target: name,
  ...(problem === undefined ? {} : { problem })
})

const world = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const asked: Array<string> = []
  const client: typeof McpClient.Service = {
    servers: Effect.succeed([
      server("bad"),
      server("broken", "its file is not trusted"),
      server("broken2", "its file is not trusted"),
      { ...server("/p/mcp_servers.json", "it is no JSON"), isFile: true as const },
      server("fast"),
      server("slow")
    ]),
    tools: (name) =>
      Effect.suspend(() => {
        asked.push(name)
        if (name === "bad") return new ExecutionFailed({ kind: "io", reason: "it ended\nat once" })
        return name === "slow" ? Effect.as(Deferred.await(gate), []) : Effect.succeed([])
      }),
    known: () => [],
    call: () => Effect.die("not called")
  }
  const look = Mcp.makeMcpLook(client)
  const search = Effect.gen(function* () {
    const fiber = yield* Effect.fork(look)
    yield* TestClock.adjust(3000)
    return yield* Fiber.join(fiber)
  })
  return { asked, gate, search }
})

describe("a look at the servers of which nothing is known", () => {
  it.effect("waits a moment for each, and names those that could not be asked", () =>
    Effect.gen(function* () {
      const { asked, gate, search } = yield* world
      const lasting = [
        "mcp:broken, mcp:broken2 can't be used: its file is not trusted",
        "/p/mcp_servers.json can't be used: it is no JSON"
      ]
      const notes = ["mcp:bad: it ended at once", "mcp:slow: it is still starting after 3 s; search again later"]
      assert.deepStrictEqual(yield* search, [...lasting, ...notes])
      assert.deepStrictEqual(asked, ["bad", "fast", "slow"])
      // The one that has failed is not asked again at once.
      assert.deepStrictEqual(yield* search, [...lasting, ...notes])
      assert.deepStrictEqual(asked, ["bad", "fast", "slow", "fast", "slow"])
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* search, [...lasting, ...notes.slice(0, 1)])
      yield* TestClock.adjust(60_000)
      yield* search
      assert.deepStrictEqual(
        asked.filter((name) => name === "bad"),
        ["bad", "bad"]
      )
    })
  )
})
