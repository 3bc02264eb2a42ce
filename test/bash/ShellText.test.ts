import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ShellText from "../../src/bash/ShellText.js"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** What every decoder of UTF-8 has been wrong about. */
const fragments = [
  "efbbbf", // byte order mark
  "61",
  "00",
  "0a",
  "c3a9",
  "e282ac",
  "f09f9982",
  "f48fbfbf",
  "efbfbf",
  "efbfbd",
  "ed9fbf",
  "ee8080",
  "c080", // overlong
  "c1bf",
  "e08080",
  "e09fbf",
  "f0808080",
  "f08fbfbf",
  "eda0bd", // surrogates, alone and as a pair
  "edb882",
  "eda0bdedb882",
  "edb280",
  "edb3bf",
  "f4908080", // behind the last character
  "f5808080",
  "f8888080",
  "fe",
  "ff",
  "80",
  "bf",
  "c3", // the beginning of a character only
  "e2",
  "e282",
  "f0",
  "f09f",
  "f09f99"
].map((text) => Buffer.from(text, "hex"))

const mixed = FastCheck.array(
  FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.constantFrom(...fragments) },
    { weight: 1, arbitrary: FastCheck.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: FastCheck.fullUnicodeString({ maxLength: 4 }).map((text) => Buffer.from(text)) }
  ),
  { maxLength: 12 }
)

/** What stands for a byte. */
const escapes = /[\ud800-\udbff][\udc00-\udfff]|[\udc80-\udcff]/g

const roundTrip = (bytes: Uint8Array): string => {
  const text = ShellText.decode(bytes)
  assert.strictEqual(hex(ShellText.encode(text)), hex(bytes))
  // Lone surrogates are those of bytes, and no other.
  const rest = text.replace(escapes, (match) => (match.length > 1 ? "" : "."))
  assert.notMatch(rest, /[\ud800-\udfff]/)
  return text
}

describe("ShellText", () => {
  it("gives back any bytes", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.uint8Array({ maxLength: 64 }), (bytes) => {
        roundTrip(bytes)
      }),
      { numRuns: 300 }
    )
    FastCheck.assert(
      FastCheck.property(mixed, (parts) => {
        roundTrip(Buffer.concat(parts))
        // Texts that are put together are bytes that are put together, even where those make up a character.
        const together = parts.map(ShellText.decode).join("")
        assert.strictEqual(hex(ShellText.encode(together)), hex(Buffer.concat(parts)))
      }),
      { numRuns: 500 }
    )
  })

  it("gives back every fragment beside every other", () => {
    for (const first of fragments) {
      for (const second of fragments) roundTrip(Buffer.concat([first, second]))
    }
  })

  it("gives back every byte before one of each kind, and every beginning of a character of three or four", () => {
    // The first and the last of each range that UTF-8 tells apart in a second byte.
    const seconds = [0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]
    for (let first = 0; first < 0x100; first++) {
      for (const second of seconds) {
        const bytes = Buffer.of(first, second, 0x80, 0xbf)
        for (const length of first < 0xe0 ? [2] : [2, 3, 4]) roundTrip(bytes.subarray(0, length))
      }
    }
  })

  it("is a TextDecoder where the bytes are UTF-8, or are up to the garbage at their end", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    const same = (text: string) => {
      assert.strictEqual(ShellText.decode(Buffer.from(text)), decoder.decode(Buffer.from(text)))
      assert.strictEqual(ShellText.decode(Buffer.concat([Buffer.from(text), Buffer.of(0xff)])), `${text}\udcff`)
      assert.strictEqual(hex(ShellText.encode(text)), hex(Buffer.from(text)))
    }
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString(), (text) => {
        FastCheck.pre(!/\p{Cs}/u.test(text))
        same(text)
      }),
      { numRuns: 200 }
    )
    for (let point = 0; point <= 0x10ffff; point += point < 0x900 || (point > 0xd7f0 && point < 0xe010) ? 1 : 997) {
      if (point < 0xd800 || point > 0xdfff) same(String.fromCodePoint(point))
    }
    for (const text of ["", "\ufeff", "a\ufeff", "\0", "\uffff", "\u{10ffff}"]) same(text)
  })

  it("escapes byte for byte", () => {
    const cases: ReadonlyArray<readonly [bytes: string, text: string]> = [
      ["ff", "\udcff"],
      ["61e282", "a\udce2\udc82"],
      ["c0af", "\udcc0\udcaf"],
      ["eda0bdedb882", "\udced\udca0\udcbd\udced\udcb8\udc82"],
      ["edb2ff", "\udced\udcb2\udcff"],
      ["efbbbf80", "\ufeff\udc80"],
      // Behind a character of two units, whose last is a low surrogate.
      ["f09f998280f09f9982", "\ud83d\ude42\udc80\ud83d\ude42"],
      ["f0908280", "\ud800\udc80"],
      ["f0908280ff", "\ud800\udc80\udcff"]
    ]
    for (const [bytes, text] of cases) {
      assert.strictEqual(ShellText.decode(Buffer.from(bytes, "hex")), text)
      assert.strictEqual(hex(ShellText.encode(text)), bytes)
    }
  })

  it("encodes any other surrogate as U+FFFD", () => {
    for (const text of ["\ud800", "\udc7f", "\udd00", "\udfff", "a\ud83d", "\udcff\ud800"]) {
      const expected = Buffer.from(text)
        .toString("hex")
        .replace(/^efbfbd(?=efbfbd)/, "ff")
      assert.strictEqual(hex(ShellText.encode(text)), expected)
    }
  })

  it("shows a text on one line, with bytes as escapes", () => {
    assert.strictEqual(ShellText.quoted(`é🙂"\n\udcff\udc80`), `"é🙂\\"\\n\\xff\\x80"`)
    assert.strictEqual(ShellText.quoted("\\udcff \\\\udcff \ud800"), `"\\\\udcff \\\\\\\\udcff \\ud800"`)
  })

  it("takes no long time for a MB, whatever is in them", () => {
    const size = 1_000_000
    const repeated = (text: string) => Buffer.alloc(size, text)
    const inputs = {
      ascii: repeated("a b\n"),
      "€": repeated("€"),
      "🙂": repeated("🙂🙂"),
      "\xff": Buffer.alloc(size, 255)
    }
    for (const [name, bytes] of Object.entries({ ...inputs, mixed: Buffer.alloc(size, "é\xe9€ \x80", "latin1") })) {
      assert.isTrue(ShellText.encode(ShellText.decode(bytes)).equals(bytes), name)
    }
  }, 120_000)
})
