import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as OneLine from "../../src/domain/OneLine.js"

describe("a text of somebody else's on one line", () => {
  it("shows what could hide or command", () => {
    assert.strictEqual(OneLine.of("  a\r\n\tb  c ", 50), "a b c")
    assert.strictEqual(
      OneLine.of("\u001b[31mred\u0007\u009b\u202e\u200b\u2066", 99),
      "\\u001b[31mred\\u0007\\u009b\\u202e\\u200b\\u2066"
    )
    assert.strictEqual(OneLine.of("\u{e0041}\ud800", 50), "\\u{e0041}\\ud800")
    assert.strictEqual(OneLine.quoted('say "yes"', 50), `"say 'yes'"`)
  })

  it("is short, on one line and without anything unseen, whatever it was", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ unit: "binary", maxLength: 200 }),
        FastCheck.integer({ min: 3, max: 60 }),
        (text, most) => {
          for (const shown of [OneLine.of(text, most), OneLine.quoted(text, most)]) {
            assert.isAtMost(shown.length, most)
            assert.notMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
          }
        }
      )
    )
    assert.strictEqual(OneLine.of("x".repeat(1_000_000), 5), "xxxx…")
    assert.strictEqual(OneLine.of(`a${" ".repeat(100)}b`, 5), "a…")
  })
})
