import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as TextCut from "../../src/domain/TextCut.js"

const texts = FastCheck.string({ unit: FastCheck.constantFrom("a", "é", "😀", "\n"), maxLength: 60 })

describe("TextCut", () => {
  it.prop(
    "keeps a beginning and an end within the count, and no half of a character",
    [texts, FastCheck.integer({ min: 0, max: 70 })],
    ([text, count]) => {
      const [head, tail] = [TextCut.headOf(text, count), TextCut.tailOf(text, count)]
      assert.isTrue(text.startsWith(head))
      assert.isTrue(text.endsWith(tail))
      for (const part of [head, tail]) {
        assert.isAtMost(part.length, count)
        assert.isAtLeast(part.length, Math.min(text.length, count / 2) - 2)
        assert.notMatch(part, /\p{Surrogate}/u)
      }
    }
  )

  it("cuts between lines where one ends near", () => {
    assert.strictEqual(TextCut.headOf("one\ntwo\nthree\n", 6), "one\n")
    assert.strictEqual(TextCut.tailOf("one\ntwo\nthree\n", 8), "three\n")
  })
})
