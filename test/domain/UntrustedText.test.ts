import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as UntrustedText from "../../src/domain/UntrustedText.js"

/** Matches what a terminal obeys, or a reader does not see; a lone joiner or selector may be part of what is seen. */
const hidden =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]|(?!\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0061}-\u{e007f}]|[\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}/u

const anything = FastCheck.fullUnicodeString({ maxLength: 200 })
const most = { characters: 2000, lines: 10 }

describe("a text of somebody else's", () => {
  it("shows what could hide or command", () => {
    const evil = "\u001b[31mred\u0007\u009b\u202e\u200b\u2066\u{e0061}\u{e0041}\ud800"
    const shown = "\\u001b[31mred\\u0007\\u009b\\u202e\\u200b\\u2066\\u{e0061}\\u{e0041}\\ud800"
    assert.strictEqual(UntrustedText.escape(evil), shown)
    assert.strictEqual(UntrustedText.line(evil, 99), shown)
    assert.strictEqual(UntrustedText.word(evil), shown)
    assert.strictEqual(UntrustedText.sentence(evil, 99), shown)
    assert.deepStrictEqual(UntrustedText.block(evil, "| ", most), [`| ${shown}`])
    assert.deepStrictEqual(UntrustedText.tail(evil, "| ", most), [`| ${shown}`])
    assert.strictEqual(UntrustedText.word("read\u200d_file\ufe01\ufe02"), "read\\u200d_file\ufe01\\ufe02")
    assert.strictEqual(UntrustedText.escape("\u001b\ufe01"), "\\u001b\\ufe01")
  })

  it("shows white space as a space on a line, and as it is written in a word", () => {
    assert.strictEqual(UntrustedText.line("  a\r\n\tb  c ", 50), "a b c")
    assert.strictEqual(UntrustedText.word(" a\r\n\tb  c"), " a\\r\\n\\tb  c")
    assert.strictEqual(UntrustedText.quoted('say "yes"', 50), `"say 'yes'"`)
    assert.strictEqual(UntrustedText.sentence("\n One line. Two\nlines", 50), "One line.")
    assert.strictEqual(UntrustedText.sentence("One\nline.", 50), "One")
    assert.deepStrictEqual(UntrustedText.block("a\r\n\tb\r\r\nc\n", "| ", most), ["| a", "|   b", "|", "| c"])
    assert.deepStrictEqual(UntrustedText.block(" \r\n\n     1  a\n     2  b\n", "| ", most), [
      "|      1  a",
      "|      2  b"
    ])
  })

  it("leaves nothing that a terminal obeys or a reader does not see, whatever it was", () => {
    FastCheck.assert(
      FastCheck.property(anything, FastCheck.integer({ min: 3, max: 60 }), (text, most) => {
        for (const shown of [UntrustedText.line(text, most), UntrustedText.quoted(text, most)]) {
          assert.isAtMost(shown.length, most)
          assert.notMatch(shown, hidden)
        }
        assert.notMatch(UntrustedText.word(text, most), hidden)
        assert.notMatch(UntrustedText.sentence(text, most), hidden)
        const bounds = { characters: 2 * most, lines: 2 }
        for (const shown of [...UntrustedText.block(text, "| ", bounds), ...UntrustedText.tail(text, "| ", bounds)]) {
          assert.match(shown, /^\|/)
          assert.notMatch(shown, hidden)
        }
      })
    )
  })

  it("leaves text as it is", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "grapheme-ascii", maxLength: 80 }), (text) => {
        assert.strictEqual(UntrustedText.word(text), text)
      })
    )
    for (const text of ["größe ✓ 漢字", "👨‍👩‍👧 and ❤️", "می‌خواهم"])
      assert.strictEqual(UntrustedText.line(text, 99), text)
  })

  it("cuts what is long", () => {
    assert.strictEqual(UntrustedText.line("x".repeat(1_000_000), 5), "xxxx…")
    assert.strictEqual(UntrustedText.line(`a${" ".repeat(100)}b`, 5), "a…")
    assert.strictEqual(UntrustedText.word(`${"x".repeat(4)}🙂${"x".repeat(95)}`, 5), "xxxx… (97 more)")
    assert.deepStrictEqual(UntrustedText.block("1\n2\n3\n", "  ", { ...most, lines: 2 }), [
      "  1",
      "  2",
      "  … (1 more line)"
    ])
    assert.deepStrictEqual(UntrustedText.tail("1\n2\n3\n", "  ", { ...most, lines: 2 }), ["  2", "  3"])
    assert.isAtMost(UntrustedText.tail("x".repeat(100_000), "  ", most).join("\n").length, 2002)
    assert.deepStrictEqual(UntrustedText.tail(" \n", "  ", most), [])
  })
})
