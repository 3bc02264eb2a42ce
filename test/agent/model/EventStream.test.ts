import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import * as Exchange from "../../../src/agent/model/internal/Exchange.js"

const read = (bytes: Uint8Array, cuts: ReadonlyArray<number> = []): ReadonlyArray<string> => {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  const parts = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end))
  return Chunk.toReadonlyArray(Effect.runSync(Stream.runCollect(Exchange.eventsOf(Stream.fromIterable(parts)))))
}

const encode = (text: string) => new TextEncoder().encode(text)

describe("a stream of events", () => {
  it("holds the data of each", () => {
    assert.deepStrictEqual(read(encode("event: a\ndata: 1\n\ndata:2\r\n\r\n: no\ndata: 3\n\ndata\n\nid: 4\n\n")), [
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
    const end = FastCheck.constantFrom("\n", "\r\n")
    const cuts = FastCheck.array(FastCheck.nat(200), { maxLength: 10 })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(line, { maxLength: 10 }), end, cuts, (lines, ending, places) => {
        const bytes = encode(lines.map((one) => one + ending).join(""))
        assert.deepStrictEqual(read(bytes, places), read(bytes))
      })
    )
  })
})
