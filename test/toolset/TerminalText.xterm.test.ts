/** Against a terminal emulator: what is shown at the end is what it would show. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import Xterm from "@xterm/headless"
import * as FastCheck from "effect/FastCheck"
import * as TerminalText from "../../src/toolset/TerminalText.js"

const trimmed = (text: string) => text.replace(/ +$/gm, "").replace(/\n+$/, "")

const terminal = new Xterm.Terminal({ cols: 400, rows: 60, convertEol: true, allowProposedApi: true })
afterAll(() => terminal.dispose())

/** Returns what xterm.js shows of a text, with tabs as the columns that they take. */
const onXterm = async (text: string): Promise<string> => {
  terminal.reset()
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
  return trimmed(lines.join("\n"))
}

const expanded = (text: string) =>
  text
    .split("\n")
    .map((line) => {
      let width = 0
      return Array.from(line, (character) => {
        const size = character === "\t" ? 8 - (width % 8) : character === "日" ? 2 : 1
        width += size
        return character === "\t" ? " ".repeat(size) : character
      }).join("")
    })
    .join("\n")

const stream = (...units: ReadonlyArray<string>) =>
  FastCheck.array(FastCheck.oneof(FastCheck.constantFrom(...units), FastCheck.stringMatching(/^[a-z ]{1,6}$/)), {
    maxLength: 30
  }).map((parts) => parts.join(""))

const moving = ["\r", "\b", "\n", "\r\n", "\x1b[K", "\x1b[2K", "\x1b[1K"]
const further = [
  "\x1b[2A",
  "\x1b[A",
  "\x1b[B",
  "\x1b[3C",
  "\x1b[2D",
  "\x1b[7G",
  "\x1b[J",
  "\x1b[E",
  "\x1b[F",
  "日",
  "\t"
]
const colours = ["\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x1b(B", "\x1b[?25l", "\x07"]

describe("TerminalText.show and xterm.js", () => {
  it.each([
    ["what overwrites a line", stream(...moving, ...colours), 200],
    ["what goes to other lines and columns", stream(...moving, ...further, ...colours), 200]
  ])("agree on %s", async (_, streams, numRuns) => {
    await FastCheck.assert(
      FastCheck.asyncProperty(streams, async (text) => {
        assert.strictEqual(trimmed(expanded(TerminalText.show(text))), await onXterm(text))
      }),
      { numRuns }
    )
  })
})
