import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as CallServer from "../../src/bridge/internal/CallServer.js"
import * as CommandName from "../../src/command/CommandName.js"

const prefixes = ["mcp:", "skill:", "a-b:"]
const within = (text: string, most = 200) => [...CallServer.within(text, prefixes, most)]

describe("the names of our commands in a text", () => {
  it("are its words that begin with a prefix, once each", () => {
    assert.deepStrictEqual(within("xargs -n1 mcp:gh:show | env 'skill:pdf:split' \"mcp:gh:show\"; $(a-b:x);mcp:y&"), [
      "mcp:gh:show",
      "mcp:y",
      "skill:pdf:split",
      "a-b:x"
    ])
    assert.deepStrictEqual(within('subprocess.run(["mcp:gh:list-it.v2", x])'), ["mcp:gh:list-it.v2"])
    assert.deepStrictEqual(within("X=mcp:gh:x mcp:ünï:中文"), ["mcp:gh:x", "mcp:ünï:中文"])
  })

  it("are no paths, no parts of words, and no prefixes alone", () => {
    for (const text of [
      "",
      "true",
      "mcp:",
      "mcp: x",
      "mcp:gh/show",
      "mcp:../../etc",
      "./mcp:x",
      "/bin/mcp:x",
      "xmcp:a",
      "é-mcp:a",
      "\\mcp:a",
      "mcp:$x",
      "mcp:\n",
      `mcp:${"a".repeat(252)}`,
      `mcp:${"é".repeat(126)}`,
      "mcp:e\u0301"
    ]) {
      assert.deepStrictEqual(within(text), [], text)
    }
  })

  it("are limited in number, and taken from the beginning of a long text only", () => {
    const many = Array.from({ length: 5000 }, (_, at) => `mcp:t${at}`).join(" ")
    assert.strictEqual(within(many, 7).length, 7)
    assert.strictEqual(within(`${"mcp: ".repeat(5000)}mcp:late`).length, 0)
    assert.deepStrictEqual(within(`mcp:early ${"x".repeat(300_000)} mcp:late`), ["mcp:early"])
  })

  it("can all be names of commands and of files", () => {
    const text = FastCheck.string({
      unit: FastCheck.oneof(
        FastCheck.constantFrom("mcp:", "skill:", ":", "/", ".", "-", "\n", "\0", " ", "'", "é", "\u0301", "\ud800"),
        FastCheck.fullUnicodeString({ maxLength: 2 })
      )
    })
    FastCheck.assert(
      FastCheck.property(text, (some) => {
        for (const name of within(some)) {
          assert.isUndefined(CommandName.problemOf(name))
          assert.isTrue(prefixes.some((prefix) => name.startsWith(prefix) && name.length > prefix.length))
          assert.isTrue(some.includes(name) && !name.includes("/") && Buffer.byteLength(name) <= 255)
        }
      })
    )
  })
})
