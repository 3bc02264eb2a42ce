import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ReadWindow from "../../../src/commands/read/internal/Read.window.js"
import * as Read from "../../../src/commands/read/Read.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { run } from "../../support/commands/FileCall.js"

const hidden: ReadonlyArray<readonly [line: string, shown: string]> = [
  ["a\u200bb", "a<U+200B>b"],
  ["is\u202eevil\u202c", "is<U+202E>evil<U+202C>"],
  ["\u2066x\u2069", "<U+2066>x<U+2069>"],
  ["x\u{e0041}\u{e0042}", "x<U+E0041><U+E0042>"],
  ["a\ufeffb\u00adc\u2060d", "a<U+FEFF>b<U+00AD>c<U+2060>d"],
  ["a\u2028b\u2029c", "a<U+2028>b<U+2029>c"],
  ["if (x\u3164)", "if (x<U+3164>)"],
  ["user\u200d = admin\u200c", "user<U+200D> = admin<U+200C>"],
  ["x\ufe01\ufe02\ufe03", "x\ufe01<U+FE02><U+FE03>"],
  ["x\u{e0101}\u{e0102}", "x<U+E0101><U+E0102>"],
  ["\u{1f3f4}\u{e0061}\u{e0062}\u{e0063}", "\u{1f3f4}<U+E0061><U+E0062><U+E0063>"]
]

/** Lines in which everything can be seen, as they are written in the world. */
const seen: ReadonlyArray<string> = [
  "plain text\twith a tab, é, 漢字, Ünï",
  "👨‍👩‍👧 and 🏳️‍🌈 and 👩🏽‍💻 and ❤️",
  "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
  "می‌خواهم",
  "क्‍ष",
  "葛\u{e0100}"
]

describe("a line that is shown", () => {
  it("has the invisible characters by their numbers", () => {
    for (const [line, shown] of hidden) assert.strictEqual(ReadWindow.markInvisible(line), shown)
  })

  it("stays as it is where nothing in it is invisible", () => {
    for (const line of seen) assert.strictEqual(ReadWindow.markInvisible(line), line)
  })

  it.effect("says that there are such characters, to a reader; a pipe gets them as they are", () =>
    Effect.gen(function* () {
      const text = "\ufeffa\u202eb\x1b\n"
      const files = MemoryFiles.make({ f: text })
      const { stderr, stdout } = yield* run(Read.make, ["f"], { files, room: 30_000 })
      assert.strictEqual(stdout, "     1\ta<U+202E>b\u241b\n")
      assert.strictEqual(stderr, "read: f: invisible characters are shown as <U+...>\n")
      assert.strictEqual((yield* run(Read.make, ["f"], { files })).stdout, "     1\ta\u202eb\x1b\n")
    })
  )
})
