import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Wire from "../../../src/extension/mcp/internal/Wire.js"

const bytes = (text: string) => new TextEncoder().encode(text)

/** The messages of these bytes; undefined where one exceeds the limit. */
const read = (reader: Wire.MessageReader, chunk: Uint8Array) => {
  const steps = reader.read(chunk)
  const messages: Array<unknown> = []
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value ? messages : undefined
    if (value !== undefined) messages.push(value)
  }
}

const line = FastCheck.oneof(
  FastCheck.record({ jsonrpc: FastCheck.constant("2.0"), id: FastCheck.nat(), result: FastCheck.jsonValue() }).map(
    (message) => ({ text: JSON.stringify(message), message: JSON.parse(JSON.stringify(message)) })
  ),
  FastCheck.constantFrom("", "Server is ready", '{"level":"info"}', "null", "[1]", '{"jsonrpc":"2.0"', "\u001b[2J").map(
    (text) => ({ text, message: undefined })
  )
)

describe("MessageReader", () => {
  it("reads the messages among noise, however the bytes are cut", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(line),
        FastCheck.array(FastCheck.integer({ min: 1, max: 40 }), { minLength: 1 }),
        FastCheck.constantFrom("\n", "\r\n"),
        (lines, sizes, end) => {
          const reader = Wire.makeMessageReader()
          const all = bytes(lines.map(({ text }) => text + end).join(""))
          const messages: Array<unknown> = []
          for (let at = 0, turn = 0; at < all.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            messages.push(...(read(reader, all.slice(at, at + size)) ?? []))
            at += size
          }
          assert.deepStrictEqual(
            messages,
            lines.flatMap(({ message }) => message ?? [])
          )
        }
      )
    )
  })

  it("remembers the last noise, and its beginning only", () => {
    const reader = Wire.makeMessageReader()
    read(reader, bytes(`one\n${"x".repeat(1000)}\n\n{"jsonrpc":"2.0"}\n`))
    assert.strictEqual(reader.noise(), "x".repeat(300))
  })

  it("refuses a message over the limit, whole or in parts", () => {
    const message = bytes(`{"jsonrpc":"2.0","a":"${"x".repeat(20)}"}`)
    assert.lengthOf(
      read(Wire.makeMessageReader(message.length), bytes(`${new TextDecoder().decode(message)}\n`)) ?? [],
      1
    )
    assert.isUndefined(
      read(Wire.makeMessageReader(message.length - 1), bytes(`${new TextDecoder().decode(message)}\n`))
    )
    const reader = Wire.makeMessageReader(30)
    assert.deepStrictEqual(read(reader, message.subarray(0, 30)), [])
    assert.isUndefined(read(reader, message.subarray(30)))
  })
})
