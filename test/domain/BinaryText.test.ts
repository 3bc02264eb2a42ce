import * as Fs from "node:fs"
import * as Zlib from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import * as BinaryText from "../../src/domain/BinaryText.js"

const find = (bytes: Buffer | string) => BinaryText.find(bytes.toString())

const hex = (text: string) => Buffer.from(text, "hex")

/** Numbers as they lie in the memory of a program. */
const numbers = (count: number) => Buffer.from(Float64Array.from({ length: count }, (_, i) => Math.sqrt(i)).buffer)

describe("BinaryText.find", () => {
  it("takes text in any language, with colours and progress bars, for text", () => {
    const texts = [
      "",
      "plain\n",
      "Grüße, 日本語, привет, العربية, עברית, हिन्दी, 👩‍👩‍👧\n".repeat(50),
      "\x1b[1;31mred\x1b[0m\x1b[K\x1b]0;title\x07\r\n".repeat(50),
      "working |\b/\b-\b\\\r\f\v".repeat(50)
    ]
    for (const text of texts) assert.isUndefined(find(text), JSON.stringify(text))
  })

  it("takes words between NULs, and text in Latin-1, for text", () => {
    assert.isUndefined(find("HOME=/root\0PATH=/usr/bin:/bin\0TERM=dumb\0".repeat(20)))
    assert.isUndefined(find("./a\0./b\0./c\0".repeat(50)))
    assert.isUndefined(find(Buffer.from("Die Größe der Häuser übt öfter Maß.\n".repeat(50), "latin1")))
    assert.isUndefined(find(hex("fffe00010203")))
  })

  it("finds what programs write, of any type", () => {
    const cases: ReadonlyArray<Buffer> = [
      Buffer.concat([hex("89504e470d0a1a0a0000000d49484452"), numbers(50)]),
      Buffer.concat([Buffer.from("%PDF-1.4\n"), hex("25e2e3cfd30a"), numbers(50)]),
      Zlib.gzipSync(numbers(200)),
      Buffer.from(`\ufeff${"text\r\n".repeat(40)}`, "utf16le"),
      Fs.readFileSync("/proc/self/exe").subarray(0, 20_000)
    ]
    for (const bytes of cases) assert.isDefined(find(bytes))
    assert.deepStrictEqual(find(Buffer.alloc(100)), { start: 0, end: 100 })
  })

  it("finds where it begins and ends, in whole lines", () => {
    const binary = Buffer.alloc(100, "\x01\xff\n", "latin1").toString()
    assert.deepStrictEqual(BinaryText.find(`one\ntwo\nx${binary}y\nthree\n`), {
      start: 8,
      end: 8 + 1 + binary.length + 2
    })
  })

  it("leaves out what is printed after a file without a newline at its end", () => {
    const binary = Buffer.alloc(100, "\x01\xff", "latin1").toString()
    assert.strictEqual(BinaryText.find(`${binary}done\n`)?.end, binary.length)
    assert.strictEqual(BinaryText.find(`${binary}done\nnext\n`)?.end, binary.length)
    assert.strictEqual(BinaryText.find(`${binary}xyz\n`)?.end, binary.length + 4)
    assert.strictEqual(BinaryText.find(`${binary}no end`)?.end, binary.length + 6)
  })
})
