import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Servers from "../../support/mcp/Servers.js"

const listOf = (...modes: ReadonlyArray<string>) =>
  Servers.using((world, client) =>
    Effect.gen(function* () {
      world.entries.push(world.odd("odd", ...modes))
      const tools = yield* client.tools("odd")
      assert.deepStrictEqual(client.known(), tools)
      return { tools, asked: world.log("odd").filter((line) => line === "list").length }
    })
  )

describe("ToolList", () => {
  it("reads all pages", async () => {
    const [paged, whole] = [await listOf("paged"), await listOf()]
    assert.deepStrictEqual(paged.tools, whole.tools)
    assert.strictEqual(paged.asked, Math.ceil(whole.tools.length / 2))
  })

  it("ends where a cursor repeats, and where there is no end", async () => {
    assert.strictEqual((await listOf("repeating")).asked, 2)
    const { asked, tools } = await listOf("endless")
    assert.deepStrictEqual([tools.length, asked], [10_000, 10])
  })

  it("takes of a server that lies what can be a tool", async () => {
    const { tools } = await listOf("liar")
    const schema = { type: "object", properties: {} }
    const [server, anything] = ["odd", { type: "object" }]
    assert.deepStrictEqual(tools, [
      { server, name: "echo", description: "first", inputSchema: schema },
      ...["missing", "text", "list", "wide"].map((name) => ({ server, name, inputSchema: anything })),
      { server, name: "cyclic", inputSchema: { $ref: "#" } },
      { server, name: "deep", inputSchema: anything },
      { server, name: "worded", inputSchema: schema }
    ])
  })
})
