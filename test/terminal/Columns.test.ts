import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Columns from "../../src/terminal/Columns.js"
import { wrap } from "../../src/terminal/Columns.js"

describe("the lines of a text for people", () => {
  it("are broken between words, and further rows stand below the text of the first one", () => {
    assert.strictEqual(wrap("one two three four", 9), "one two\nthree\nfour")
    assert.strictEqual(wrap("  a list entry that is long", 24), "  a list entry that is\n  long")
    assert.strictEqual(
      wrap("  /todo  Show the list of tasks.\n  /exit  Leave.", 30),
      "  /todo  Show the list of\n         tasks.\n  /exit  Leave."
    )
    assert.strictEqual(wrap("  /a-very-long-usage  What it is for", 30), "  /a-very-long-usage  What it\n  is for")
  })

  it("keep a word that is longer than the terminal, and count wide characters twice", () => {
    assert.strictEqual(wrap("see /a/path/without/any/blank here", 10), "see\n/a/path/without/any/blank\nhere")
    assert.strictEqual(wrap("日本 日本 日本", 9), "日本 日本\n日本")
  })

  it("lose nothing but blanks, and are no wider than they can be, whatever the text and the width", () => {
    const text = FastCheck.stringMatching(/^[ab日 \n]{0,60}$/)
    FastCheck.assert(
      FastCheck.property(text, FastCheck.integer({ min: 1, max: 40 }), (text, columns) => {
        const shown = wrap(text, columns)
        assert.strictEqual(shown.replace(/\s/g, ""), text.replace(/\s/g, ""))
        for (const row of shown.split("\n"))
          if (Columns.of(row.trimEnd()) > columns) assert.notMatch(row.trim(), / /, JSON.stringify([text, columns]))
      })
    )
  })
})
