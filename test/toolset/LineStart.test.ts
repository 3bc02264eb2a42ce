import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as CommandText from "../../src/toolset/internal/CommandText.js"

/** The tokens at which lines begin, without those between lines. */
const beginnings = (text: string): ReadonlyArray<string> => {
  const line = CommandLine.parse(text)
  return line.tokens
    .filter((token, at) => (token._tag === "Word" || token._tag === "Operator") && CommandText.isFirst(line, at))
    .map(({ end, start }) => text.slice(start, end))
}

const outside = (text: string): string => CommandText.outsideHereDocuments(CommandLine.parse(text))

describe("isFirst", () => {
  it("finds the first token of each line that bash begins", () => {
    assert.deepStrictEqual(beginnings("a b\n  c; d\n\n(e)\n\tf"), ["a", "c", "(", "f"])
  })

  it("passes over lines that continue others, and over here-documents", () => {
    assert.deepStrictEqual(beginnings("a \\\n b\nc 'd\ne' f"), ["a", "c"])
    assert.deepStrictEqual(beginnings("a <<E\nb\nc\nE\nd"), ["a", "d"])
  })
})

describe("outsideHereDocuments", () => {
  it("leaves out the here-documents that are closed", () => {
    assert.strictEqual(outside("a <<E <<'F'\nb\nE\nc\nF\nd\n"), "a <<E <<'F'\nd\n")
    for (const text of ["", "a\nb", "a <<E\nb", "a '<<E\nb\nE\n'"]) {
      assert.strictEqual(outside(text), text)
    }
  })
})
