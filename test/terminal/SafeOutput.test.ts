import { assert, describe, it } from "@effect/vitest"
import { SafeOutput } from "../../src/terminal/SafeOutput.js"

const show = (chunks: ReadonlyArray<string | Buffer>, hasColours = true): string => {
  const output = new SafeOutput(hasColours)
  return chunks.map((chunk) => output.take("stdout", Buffer.from(chunk))).join("") + output.end()
}

describe("the output of commands at a terminal", () => {
  it("keeps colours and the erasing of a line, wherever a chunk ends, and leaves no colour on", () => {
    assert.strictEqual(show(["\x1b[1;3", "1mred\x1b[K\n"]), "\x1b[1;31mred\x1b[K\n\x1b[m")
    assert.strictEqual(show(["\x1b[31mred\x1b[m\n"], false), "red\n")
  })

  it("makes every other sequence visible", () => {
    for (const [sequence, shown] of [
      ["\x1b]0;title\x07", "\\u001b]0;title"],
      ["\x1b]52;c;eA==\x1b\\", "\\u001b]52;c;eA==\\u001b\\"],
      ["\x1b[2J\x1b[1;1H", "\\u001b[2J\\u001b[1;1H"],
      ["\x1b[?2026h", "\\u001b[?2026h"],
      ["\x1b]8;;http://x\x1b\\y", "\\u001b]8;;http://x\\u001b\\y"],
      ["\x1bPq\x1b\\", "\\u001bPq\\u001b\\"],
      ["\x1bc", "\\u001bc"],
      ["\u009b2J", "\\u009b2J"],
      ["a\u202eb", "a\\u202eb"]
    ] as const) {
      assert.strictEqual(show([`${sequence}\n`]), `${shown}\n`)
      assert.strictEqual(show([...Buffer.from(`${sequence}\n`)].map((byte) => Buffer.of(byte))), `${shown}\n`)
    }
  })

  it("ends the last line, so that no prompt is glued to it, and shows a sequence that was cut off", () => {
    assert.strictEqual(show(["no end"]), "no end\n")
    assert.strictEqual(show(["\x1b[31m"]), "\x1b[31m\x1b[m")
    assert.strictEqual(show(["line\n\x1b["]), "line\n\\u001b[\n")
    assert.strictEqual(show([]), "")
  })

  it("puts characters together that come in parts", () => {
    const [start, end] = [Buffer.from("é\n").subarray(0, 1), Buffer.from("é\n").subarray(1)]
    assert.strictEqual(show([start, end]), "é\n")
  })
})
