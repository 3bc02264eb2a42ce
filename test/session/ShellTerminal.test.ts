import { assert, describe, it } from "@effect/vitest"
import * as ShellTerminal from "../../src/session/ShellTerminal.js"

/** What is shown of a text that comes in two parts, and the marks in it. */
const inParts = (text: string, at: number) => {
  const first = ShellTerminal.filter(text.slice(0, at))
  const second = ShellTerminal.filter(first.held + text.slice(at))
  return { shown: first.shown + second.shown + second.held, marks: [...first.marks, ...second.marks] }
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1")

describe("the filter of a person's terminal", () => {
  it("takes out marks, clipboard, titles and reports of them, however the text is cut", () => {
    const text = latin1(
      "a\x1b]7770;x-1\x07b\x1b]52;c;aGk=\x07c\x1b]0;t\x1b\\d\x1b]2;ü\x07e\x1bktitle\x1b\\f\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\g\x1b[21th\u009d52;c;aGk=\x07i\u009d1;t\u009cj"
    )
    for (let at = 0; at <= text.length; at++) {
      assert.deepStrictEqual(inParts(text, at), { shown: "abcdefghij", marks: ["x-1"] }, `${at}`)
    }
  })

  it("leaves the rest as it is: colours, questions for the cursor, links, Sixel, other letters", () => {
    const text = latin1(
      "\x1b[1;31mred\x1b[m \x1b[6n\x1b[c\x1b[2J\x1b[20;1H\x1b]8;;https://a.b\x07link\x1b]8;;\x07\x1b]52\x1bPq#0\x1b\\ \x1b(B\x1b[?1049h ¢Â 世界\x1b]10;?\x07\x1b]777;notify\x07"
    )
    for (let at = 0; at <= text.length; at++) assert.strictEqual(inParts(text, at).shown, text, `${at}`)
  })

  it("shows nothing of what is too long to be held back, and is quick with beginnings", () => {
    const long = ShellTerminal.filter(`on\x1b]52;c;${"a".repeat(1024 ** 2 + 1)}`)
    assert.deepStrictEqual(long, { shown: "on", held: "", marks: [] })
    for (const start of ["\x1b]52;", "\x1bPtmux;", "\x1bk", "\xc2\x9d0;", "\x1b\x1b"]) {
      const { held, shown } = ShellTerminal.filter(start.repeat(20_000))
      assert.isAtMost(held.length + shown.length, 20_000 * start.length)
    }
  })
})
