import { assert, describe, it } from "@effect/vitest"
import * as BytePath from "../../../src/sandbox/policy/BytePath.js"

const bytes = (...parts: ReadonlyArray<string | number>): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.from([part]) : Buffer.from(part))))

describe("a path that is not UTF-8", () => {
  const names: Readonly<Record<string, Buffer>> = {
    "plain text": bytes("/home/ada/.env"),
    "other scripts, and beyond the first plane": bytes("/ünï/日本/😀"),
    "a replacement character of its own": bytes("/\ufffd/x"),
    "one wrong byte": bytes("/p", 0xff, "/.env"),
    "half a character": bytes("/", 0xe2, 0x82, "/x", 0xf0, 0x9f, 0x98),
    "a wrong byte beside a replacement character and an emoji": bytes("\ufffd", 0x80, "😀", 0xfe, "\ufffd"),
    "a surrogate, which UTF-8 does not have": bytes(0xed, 0xb2, 0x80, "/", 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
    "characters written too long": bytes(0xc0, 0xaf, "/", 0xe0, 0x80, 0xaf),
    "beyond Unicode": bytes(0xf4, 0x90, 0x80, 0x80, 0xf5, 0xff)
  }
  for (const [title, name] of Object.entries(names)) {
    it(`keeps its bytes: ${title}`, () => {
      const text = BytePath.decode(name)
      assert.deepStrictEqual(BytePath.encode(text), name)
      assert.deepStrictEqual(Buffer.from(BytePath.toHost(text)), name)
      assert.strictEqual(JSON.parse(JSON.stringify(text)), text)
    })
  }

  it("is a text like any other where it is UTF-8, and unlike any other where it is not", () => {
    assert.strictEqual(BytePath.decode(Buffer.from("/ünï")), "/ünï")
    assert.strictEqual(BytePath.toHost("/ünï"), "/ünï")
    const texts = [0x80, 0xfe, 0xff].map((byte) => BytePath.decode(bytes("p", byte)))
    assert.strictEqual(new Set(texts).size, 3)
  })

  it("keeps any bytes at all", () => {
    for (let seed = 1; seed < 400; seed++) {
      const any = Buffer.from(
        Array.from({ length: 40 }, (_, at) => (Math.imul(seed * 40 + at, 2654435761) >>> 13) & 0xff)
      )
      assert.deepStrictEqual(BytePath.encode(BytePath.decode(any)), any)
    }
  })
})
