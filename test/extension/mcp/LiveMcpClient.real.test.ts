import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Servers from "../../support/mcp/Servers.js"

describe("LiveMcpClient", () => {
  it("calls", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd"))
        const out = yield* client.call("odd", "echo", { a: 1 })
        assert.deepStrictEqual(out, { content: [{ type: "text", text: '{"a":1}' }] })
        console.log((yield* client.tools("odd")).length, world.log("odd"))
        for (const t of ["crash", "refuse", "hang"])
          console.log((yield* Effect.flip(client.call("odd", t, {}, { timeout: 300 })) as Error).message)
      })
    ))
})
