import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ServerText from "../../../src/extension/mcp/ServerText.js"

describe("ServerText", () => {
  it("leaves nothing that a terminal obeys or a reader does not see", () => {
    const invisible = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
        assert.notMatch(ServerText.visible(text).replace(/[\n\t]/g, ""), invisible)
        assert.notMatch(ServerText.line(text), invisible)
      })
    )
  })

  it("leaves text as it is", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "grapheme-ascii", maxLength: 500 }), (text) => {
        assert.strictEqual(ServerText.visible(text), text)
      })
    )
    assert.strictEqual(ServerText.visible("größe\t✓ 漢字\r\nx"), "größe\t✓ 漢字\nx")
  })

  it("cuts what is long", () => {
    assert.strictEqual(ServerText.line("a".repeat(1000), 5), "aaaaa…")
    assert.strictEqual(ServerText.tail("1\n2\n3\n", 2), "  2\n  3")
    assert.isAtMost(ServerText.tail("x".repeat(100_000)).length, 2002)
    assert.strictEqual(ServerText.tail(" \n"), "")
  })
})
