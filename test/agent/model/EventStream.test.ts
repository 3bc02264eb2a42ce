import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Exchange from "../../../src/agent/model/internal/Exchange.js"

const read = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []): ReadonlyArray<string> => {
  const events = Exchange.makeEventStream()
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  let from = 0
  const found = ends.flatMap((end) => {
    const some = events.push(bytes.subarray(from, end))
    from = end
    return some ?? []
  })
  return [...found, ...events.end()]
}

const encode = (text: string) => new TextEncoder().encode(text)

describe("a stream of events", () => {
  it("holds the data of each, in all forms of lines", () => {
    assert.deepStrictEqual(read(encode("event: a\ndata: 1\n\ndata:2\r\n\r\n: no\rdata: 3\r\rdata\n\nid: 4\n\n")), [
      "1",
      "2",
      "3",
      ""
    ])
    assert.deepStrictEqual(read(encode("data: a\ndata:  b\n\ndata: last")), ["a\n b", "last"])
    assert.deepStrictEqual(read(encode("\ufeffdata: marked\n\n")), ["marked"])
  })

  it("is the same however its bytes are cut", () => {
    const line = FastCheck.constantFrom("data: ü😀", "data:", "data: {}", ": ping", "event: x", "datax: y", "")
    const end = FastCheck.constantFrom("\n", "\r\n", "\r")
    const cuts = FastCheck.array(FastCheck.nat(400), { maxLength: 20 })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(line, { maxLength: 20 }), end, cuts, (lines, ending, places) => {
        const bytes = encode(lines.map((one) => one + ending).join(""))
        assert.deepStrictEqual(read(bytes, places), read(bytes))
      })
    )
  })

  it("reads any bytes", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.uint8Array({ maxLength: 200 }), (bytes) => {
        assert.isArray(read(bytes))
      })
    )
  })

  it("tells of an event that is too long, also of many lines", () => {
    const one = Exchange.makeEventStream(10)
    assert.isUndefined(one.push(encode("data: 1234567890")))
    const many = Exchange.makeEventStream(10)
    assert.isUndefined(many.push(encode("data:\n".repeat(20))))
  })
})
