import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as TerminalText from "../../src/toolset/TerminalText.js"

const control = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

const shows = (written: string, text: string) => assert.strictEqual(TerminalText.show(written), text)

/** What programs write to a terminal, whole and in pieces. */
const written = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom("\r", "\n", "\t", "\b", "\x1b[K", "\x1b[2K", "\x1b[1A", "\x1b[3B", "\x1b[2J", "\x1b[H"),
    FastCheck.constantFrom("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b", "\x9d", "\x1b[31m", "\x1b\\", "\x07", ";", "9"),
    FastCheck.constantFrom("\x1b[999999999C", "\x1b[99999;99999H", "\x1b[1.5C", "\x1b[?25l", "\0", "\x7f", "\x85"),
    FastCheck.constantFrom("日本", "e\u0301", "👍🏽", "привет", "\ud83d"),
    FastCheck.fullUnicodeString({ maxLength: 5 })
  ),
  { maxLength: 40 }
).map((parts) => parts.join(""))

describe("TerminalText.show", () => {
  it("shows the last state of a progress bar", () => {
    shows("  0%\r 50%\r100%\ndone\n", "100%\ndone\n")
    shows("Downloading 1/10\rDone\n", "Doneloading 1/10\n")
    shows("Downloading 1/10\r\x1b[KDone\n", "Done\n")
    shows("Downloading 1/10\x1b[2K\rDone\n", "Done\n")
    shows("working   \r          \rready\n", "ready\n")
    shows("|\b/\b-\b\\\bok\n", "ok\n")
    shows("x\x1b[5Gy\x1b[2Dz", "x  zy")
  })

  it("shows the last state of a progress of several lines", () => {
    shows("a 0%\nb 0%\n\x1b[2Aa 50%\nb 20%\n\x1b[2A\x1b[2Ka 100%\n\x1b[2Kb 100%\n", "a 100%\nb 100%\n")
    shows("a\nb\nc\n\x1b[3A\x1b[Jdone\n", "done\n")
    shows("a\n\x1b[H\x1b[2Jb\n", "a\nb\n")
    shows("a\n\x1b[999Ab", "b\n")
  })

  it("removes colours, titles, links and all other sequences", () => {
    shows("\x1b[1;31mred\x1b[0m\tplain \x1b[38;2;1;2;3mx\x1b[m\x1b[K\n", "red\tplain x\n")
    shows("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "alink\n")
    shows("\x1bPq#0;2;0\n!4~\x1b\\a\x1b(B\x1b=\x1b7b\x1b[?25l\x1b[5 qc", "abc")
    shows("\x9b31mred\x9b0m \x9d0;title\x9cx", "red x")
  })

  it("does not let a sequence without an end swallow what follows its line", () => {
    shows("a\x1b]0;title\nb\n", "a\nb\n")
    shows("a\x1bPq\nb\n\x1b[31mc\n", "a\nb\nc\n")
    shows("a\x1b]0;\x1b[1mb", "ab")
    shows("a\x1b[12;", "a")
    shows("a\x1b", "a")
    shows("a\x1b[3\nb", "a\nb")
  })

  it("shows NULs and other control characters, and drops the bell", () => {
    shows("a\0b\0c\x01\x7f\x07d", "a␀b␀c␁␡d")
  })

  it("ends lines as Unix does", () => {
    shows("a\r\nb\tc  \r\n", "a\nb\tc  \n")
  })

  it("counts columns as a terminal does", () => {
    shows("日本\rab", "ab本")
    shows("日本\ra", "a 本")
    shows("a\tb\rxyz", "xyz     b")
    shows("a\tb\b\bc", "a      cb")
    shows("e\u0301\bX", "X")
  })

  it.prop(
    "leaves no control character but newline and tab, and is done after one time",
    [written],
    ([text]) => {
      const once = TerminalText.show(text)
      assert.notMatch(once, control)
      assert.strictEqual(TerminalText.show(once), once)
      assert.isBelow(once.length, 300 * (text.length + 1))
    },
    { fastCheck: { numRuns: 300 } }
  )

  it.prop("leaves a text without control characters as it is", [FastCheck.fullUnicodeString()], ([any]) => {
    const text = any.replace(new RegExp(control, "g"), "\n")
    assert.strictEqual(TerminalText.show(text), text)
  })
})
