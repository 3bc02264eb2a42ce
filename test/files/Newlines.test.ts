import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Newlines from "../../src/files/Newlines.js"

/** Bytes with many newlines and what is close to one, at every alignment. */
const bytes = FastCheck.tuple(
  FastCheck.array(FastCheck.constantFrom(0x0a, 0x0a, 0x0b, 0x09, 0x8a, 0x00, 0xff, 0x61), { maxLength: 200 }),
  FastCheck.integer({ min: 0, max: 7 })
).map(([values, offset]) => Uint8Array.from([...Array(offset).fill(0x0a), ...values]).subarray(offset))

const plain = (values: Uint8Array) => values.filter((byte) => byte === 0x0a).length

describe("Newlines", () => {
  it("are counted", () => {
    FastCheck.assert(
      FastCheck.property(bytes, (values) => assert.strictEqual(Newlines.count(values), plain(values))),
      { numRuns: 500 }
    )
    // More in a lane than a byte counts.
    assert.strictEqual(Newlines.count(new Uint8Array(100_003).fill(0x0a)), 100_003)
    assert.strictEqual(Newlines.count(new Uint8Array(0)), 0)
  })

  it("are skipped, as many as are asked for or as there are", () => {
    FastCheck.assert(
      FastCheck.property(bytes, FastCheck.integer({ min: 0, max: 60 }), (values, lines) => {
        const skipped = Math.min(lines, plain(values))
        const text = Buffer.from(values).toString("latin1").split("\n")
        const index =
          plain(values) < lines ? values.length : text.slice(0, lines).join(" ").length + (lines > 0 ? 1 : 0)
        assert.deepStrictEqual(Newlines.skip(values, lines), { index, skipped })
      }),
      { numRuns: 500 }
    )
    const long = new Uint8Array(100_000).fill(0x0a)
    assert.deepStrictEqual(Newlines.skip(long, 70_000), { index: 70_000, skipped: 70_000 })
    assert.deepStrictEqual(Newlines.skip(long, 200_000), { index: 100_000, skipped: 100_000 })
  })
})
