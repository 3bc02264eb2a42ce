import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Newlines from "../../src/files/Newlines.js"
import { OutputCapture } from "../../src/session/internal/OutputCapture.js"

const captured = (bytes: Buffer, limit: number) => {
  const capture = new OutputCapture({
    limit,
    fileLimit: 0,
    file: () => {
      throw new Error("no file")
    }
  })
  for (let at = 0; at < bytes.length; at += 7) capture.push(bytes.subarray(at, at + 7))
  const found = capture.finish()
  return { text: found.text, isCut: found.kept?.gap !== undefined, counter: capture.counter(found) }
}

const linesIn = (text: string) => Newlines.lines(Buffer.from(text))

const streams = FastCheck.record({
  bytes: FastCheck.array(FastCheck.constantFrom(0x61, 0x0a, 0xff, 0xc3, 0xa9), { maxLength: 300 }),
  limit: FastCheck.integer({ min: 1, max: 400 })
})

describe("LineCounter", () => {
  it("counts what stands at the end without a newline as a line", () => {
    assert.deepStrictEqual(["", "\n", "a", "a\n", "a\nb"].map(linesIn), [0, 1, 1, 1, 2])
  })

  it.prop("counts as the text does, where nothing was left out", [streams], ([{ bytes }]) => {
    const all = Buffer.from(bytes)
    const { counter, text } = captured(all, 1000)
    for (let at = 0; at < all.length; at++) {
      assert.strictEqual(counter(at), all.subarray(0, at).toString("latin1").split("\n").length - 1)
    }
    assert.strictEqual(counter(all.length), linesIn(text))
  })

  it.prop("rises from no line to all of them, whatever was left out", [streams], ([{ bytes, limit }]) => {
    const all = Buffer.from(bytes)
    const { counter, text } = captured(all, limit)
    let before = 0
    for (let at = 0; at <= all.length; at++) {
      const lines = counter(at)
      assert.isAtLeast(lines, before)
      before = lines
    }
    assert.strictEqual(before, linesIn(text))
  })
})
