import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { KeptOutput, KeptStream } from "../../src/domain/KeptOutput.js"
import * as ToolReturn from "../../src/toolset/ToolReturn.js"

const where = "all of it: /o/1.txt"

const shown = (stdout: string, kept?: KeptOutput, stderr = "") =>
  ToolReturn.of({ stdout, stderr, ...(kept === undefined ? {} : { kept }) })

const whole = (text: string): KeptStream => ({ bytes: Buffer.byteLength(text), where })

/** A stream whose middle was left out. */
const gapped = (head: string, bytes: number, tail: string): readonly [string, KeptStream] => {
  const before = `${head}${head.endsWith("\n") ? "" : "\n"}[… ${bytes} bytes left out; ${where} …]\n`
  const all = bytes + Buffer.byteLength(head + tail)
  return [before + tail, { bytes: all, where, gap: { start: head.length, end: before.length, bytes } }]
}

describe("OutputText.of", () => {
  it("joins the streams, the second on a line of its own", () => {
    assert.strictEqual(shown("a", undefined, "b\n"), "a\nb\n")
    assert.strictEqual(shown("a\n", undefined, "b"), "a\nb")
    assert.strictEqual(shown("", undefined, "b"), "b")
    assert.strictEqual(shown("a"), "a")
  })

  it("shows each stream as a terminal would, without the other's cursor", () => {
    assert.strictEqual(shown("10%\r20%\r", undefined, "\x1b[31mred\x1b[m\n"), "20%\nred\n")
  })

  it("passes on what the session has cut, where it fits", () => {
    const [text, stdout] = gapped("head\n", 1000, "\x1b[32mtail\x1b[m\n")
    assert.strictEqual(
      shown(text, { limit: 100, stdout }, "err\n"),
      `head\n[… 1000 bytes left out; ${where} …]\ntail\nerr\n`
    )
  })

  it("cuts both streams to one limit, with the whole length of what was left out", () => {
    const [text, stdout] = gapped("abcdefghij", 1000, "0123456789")
    assert.strictEqual(
      shown(text, { limit: 20, stdout }, "oops, wrong"),
      `abcde\n[… 1010 bytes left out; ${where} …]\n56789\noops,\n[… 1 bytes left out; not kept: redirect it to a file …]\nwrong`
    )
  })

  it("gives one stream what the other does not use", () => {
    const stdout = "a".repeat(80)
    assert.strictEqual(
      shown(stdout, { limit: 100, stdout: whole(stdout) }, "b".repeat(20)),
      `${stdout}\n${"b".repeat(20)}`
    )
    assert.strictEqual(
      shown(stdout, { limit: 80, stdout: whole(stdout) }, "b".repeat(20)),
      `${"a".repeat(30)}\n[… 20 bytes left out; ${where} …]\n${"a".repeat(30)}\n${"b".repeat(20)}`
    )
  })

  it("cuts a long line, and says once where all of it is", () => {
    const text = `short\n${"x".repeat(3000)}\n${"y".repeat(2001)}\n${"z".repeat(2000)}\nend\n`
    const output = shown(text, { limit: 30_000, stdout: whole(text) })
    const [first, x, y, z, end] = output.split("\n")
    assert.deepStrictEqual([first, z, end], ["short", "z".repeat(2000), "end"])
    assert.match(x ?? "", /^x{1900,}\[… \d+ characters left out; all of it: \/o\/1\.txt …\]$/)
    assert.match(y ?? "", /^y{1900,}\[… \d+ characters left out …\]$/)
    const left = Number(/… (\d+) /.exec(x ?? "")?.[1])
    assert.strictEqual((/^x+/.exec(x ?? "")?.[0].length ?? 0) + left, 3000)
    assert.strictEqual(shown(output), output)
  })

  it("cuts the long line that a gap interrupts there, and keeps its beginning and its end", () => {
    const [text, stdout] = gapped(`first${"x".repeat(9000)}`, 100, `${"x".repeat(9000)}last`)
    assert.match(
      shown(text, { limit: 30_000, stdout }),
      /^first(x{1995})\n\[… 14109 bytes left out; all of it: \/o\/1\.txt …\]\nx{1996}last$/
    )
  })

  it("keeps whole characters at every cut", () => {
    for (let limit = 1; limit < 30; limit++) {
      const output = shown("😀".repeat(50), { limit, stdout: whole("😀".repeat(50)) })
      assert.notMatch(output, /\p{Surrogate}/u)
    }
  })

  it("says of a binary output in one line what it is, and keeps the text around it", () => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), noise(4000)])
    const bytes = Buffer.concat([Buffer.from("before\n"), png, Buffer.from("\nafter\n")])
    const stdout = { bytes: bytes.length, where }
    assert.strictEqual(
      shown(bytes.toString(), { limit: 30_000, stdout }),
      `before\n[binary output: ${png.length + 1} bytes; ${where}]\nafter\n`
    )
    assert.strictEqual(
      shown(noise(500).toString(), { limit: 30_000, stdout: { bytes: 500, where } }),
      `[binary output: 500 bytes; ${where}]\n`
    )
  })

  it("takes the gap of a binary output as a part of it", () => {
    const [text, stdout] = gapped(`ok\n${noise(2000)}`, 70_000, noise(2000).toString())
    assert.strictEqual(
      shown(text, { limit: 30_000, stdout: { ...stdout, bytes: 74_003 } }),
      `ok\n[binary output: 74000 bytes; ${where}]\n`
    )
  })

  const streams = FastCheck.record({
    stdout: FastCheck.fullUnicodeString({ maxLength: 200 }),
    stderr: FastCheck.fullUnicodeString({ maxLength: 200 }),
    limit: FastCheck.integer({ min: 1, max: 150 })
  })

  it.prop(
    "is never longer than the limit and its marks",
    [streams],
    ([{ limit, stderr, stdout }]) => {
      const output = shown(stdout, { limit, stdout: whole(stdout), stderr: whole(stderr) }, stderr)
      assert.isAtMost(output.replace(/\n?\[… \d+ bytes left out; .* …\]\n/g, "").length, limit + 1)
      assert.notMatch(output, /[\0-\x08\x0b-\x1f\x7f-\x9f]/)
    },
    { fastCheck: { numRuns: 150 } }
  )

  it("takes time in proportion to hostile input", () => {
    const size = 100_000
    const cost = (unit: string, length: number) => {
      const text = unit.repeat(Math.ceil(length / unit.length))
      const before = process.cpuUsage()
      shown(text, { limit: length, stdout: whole(text) })
      const { system, user } = process.cpuUsage(before)
      return user + system
    }
    const units = [
      "\x1b[",
      "\r",
      "\x1b",
      "\x9d\n",
      "\x1bP\n",
      "\x1b]",
      "\x1bPx\x1b",
      "x\r",
      "x\b\b",
      "\x1b[A\n",
      "\x1b[1K",
      "\x1b[2Kx",
      "x\x1b[1G",
      "\x1b[2J",
      "\x1b[H\x1b[J\n",
      "\x1b[9B",
      "日\b",
      "\t\r",
      "e\u0301\b",
      "\0a",
      "a\ufffd\n",
      "\x1b[1;1;1;",
      "\x1b[60;200Hx"
    ]
    for (const unit of units) {
      assert.isBelow(cost(unit, size), 40 * Math.max(cost(unit, size / 10), 20_000), JSON.stringify(unit))
    }
  })
})

/** Bytes of which half are no ASCII, and none is a newline. */
function noise(length: number): Buffer {
  let state = 12_345
  return Buffer.from(
    Array.from({ length }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      const byte = (state >> 16) & 0xff
      return byte === 0x0a ? 0xff : byte
    })
  )
}
