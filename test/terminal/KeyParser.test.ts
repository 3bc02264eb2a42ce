import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { Key } from "../../src/terminal/internal/KeyParser.js"
import { KeyParser } from "../../src/terminal/internal/KeyParser.js"

/** A short form: a press is `<name>`, a pasted text `[text]`. */
const written = (key: Key): string =>
  key._tag === "Text" ? key.text : key._tag === "Paste" ? `[${key.text}]` : `<${key.name}>`

const parse = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => {
  const keys: Array<string> = []
  const parser = new KeyParser((key) => keys.push(written(key)))
  for (const chunk of chunks) for (const byte of chunk) parser.push(byte)
  parser.flush()
  return keys
}

const keysOf = (text: string): string => parse([Buffer.from(text)]).join("")

describe("KeyParser", () => {
  it("reads characters, controls, and what comes behind an escape", () => {
    assert.strictEqual(keysOf("aß日😀"), "aß日😀")
    assert.strictEqual(
      keysOf("\x01\x03\x1f\r\n\t\x7f\x08\0"),
      "<ctrl-a><ctrl-c><ctrl-_><enter><enter><tab><backspace><backspace><ctrl-@>"
    )
    assert.strictEqual(keysOf("\x1bb\x1b\x7f\x1b\r\x1bé"), "<alt-b><alt-backspace><alt-enter><alt-é>")
    assert.strictEqual(keysOf("\x1b"), "<escape>")
    assert.strictEqual(keysOf("\x1b\x1b[A"), "<escape><up>")
    assert.strictEqual(keysOf("a\xffb".replace("\xff", "\ufffd")), "a\ufffdb")
    assert.deepStrictEqual(parse([Uint8Array.of(0x61, 0xff, 0xe6, 0x97, 0x62, 0xc0)]), ["a", "�", "�", "b", "�"])
  })

  it("reads the keys of xterm, rxvt, the Linux console, and kitty", () => {
    assert.strictEqual(keysOf("\x1b[A\x1bOB\x1b[C\x1bOD"), "<up><down><right><left>")
    assert.strictEqual(keysOf("\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[3~"), "<home><end><home><end><home><delete>")
    assert.strictEqual(
      keysOf("\x1b[1;5D\x1b[1;3C\x1b[3;5~\x1bOd\x1b[Z"),
      "<ctrl-left><alt-right><ctrl-delete><ctrl-left><shift-tab>"
    )
    assert.strictEqual(
      keysOf("\x1b[97;5u\x1b[13;2u\x1b[27;5;99~\x1b[120u\x1b[97;1:3u\x1b[98;2u"),
      "<ctrl-a><shift-enter><ctrl-c>xB"
    )
    assert.strictEqual(keysOf("\x1b[[A\x1b[57358u\x1b[15~x"), "x")
  })

  it("reads over what terminals answer, and over sequences that it does not know", () => {
    assert.strictEqual(keysOf("\x1b]11;rgb:0000/0000/0000\x1b\\a\x1b]52;c;cm0gLXJmCg==\x07b"), "ab")
    assert.strictEqual(keysOf("\x1bP1+r636f=323536\x1b\\c\x1b[?2026;1$yd\x1b[12;40Re\x1b[?62;4cf"), "cdef")
    assert.strictEqual(keysOf(`\x1b[${"1;".repeat(500)}Az\x1b[1\x03`), "z<ctrl-c>")
  })

  it("keeps a pasted text whole, with its line breaks, and without other controls", () => {
    assert.strictEqual(keysOf("a\x1b[200~ls\r\n\tb\rc\x03\x1b[31m\x9bd\x1b[201~\r"), "a[ls\n\tb\nc[31md]<enter>")
    assert.strictEqual(keysOf("\x1b[200~\x1b[201~\x1b[201~x"), "x")
    assert.strictEqual(keysOf("\x1b[200~never ended"), "[never ended]")
  })

  it("tells for how long to wait: in a sequence shortly, in pasted text longer, else for ever", () => {
    const after = (text: string) => {
      const parser = new KeyParser(() => {})
      for (const byte of Buffer.from(text)) parser.push(byte)
      return parser.patience
    }
    assert.deepStrictEqual(["", "a", "\x1b", "\x1b[1;", "\x1b]52", "\x1b[200~a"].map(after), [
      undefined,
      undefined,
      50,
      50,
      50,
      1000
    ])
  })

  it("gives the same keys however the bytes are split, and crashes at none", () => {
    const part = FastCheck.oneof(
      FastCheck.constantFrom(
        "\x1b",
        "\x1b[",
        "\x1bO",
        "\x1b[200~",
        "\x1b[201~",
        "\x1b]",
        "\x1bP",
        "\x07",
        "\x1b[1;5",
        "u",
        "~",
        "A",
        "\r",
        "日",
        "é"
      ),
      FastCheck.string({ maxLength: 4 })
    ).map((text) => Buffer.from(text))
    const bytes = FastCheck.array(FastCheck.oneof(part, FastCheck.uint8Array({ maxLength: 4 })), { maxLength: 30 })
    FastCheck.assert(
      FastCheck.property(bytes, (chunks) => {
        const whole = Buffer.concat(chunks)
        assert.deepStrictEqual(parse(chunks), parse([whole]))
        for (const key of parse([whole])) assert.notMatch(key.replace(/^\[[\s\S]*\]$/, ""), /\p{Cc}/u)
      }),
      { numRuns: 2000 }
    )
  })
})
