/** Against a terminal emulator: a question can be read, whatever a command has written before it. */
import { assert, describe, it } from "@effect/vitest"
import Xterm from "@xterm/headless"
import * as TerminalQuestion from "../../../src/sandbox/permission/TerminalQuestion.js"

const question = "The sandbox denied to read /secret"

const after = async (written: string): Promise<object> => {
  const terminal = new Xterm.Terminal({ cols: 60, rows: 12, scrollback: 100, allowProposedApi: true })
  await new Promise<void>((resolve) =>
    terminal.write(`first line\r\nbefore\r\n${written}${TerminalQuestion.reset}\r\n${question}\r\nAllow it? `, resolve)
  )
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at))
  const cell = lines.find((line) => line?.translateToString(true) === question)?.getCell(0)
  const plain = cell?.isAttributeDefault() === true && cell.isInvisible() === 0
  const { mouseTrackingMode, bracketedPasteMode, sendFocusMode, originMode, insertMode } = terminal.modes
  const modes = { mouseTrackingMode, bracketedPasteMode, sendFocusMode, originMode, insertMode }
  const result = {
    buffer: active.type,
    plain,
    modes,
    last: lines[active.baseY + active.cursorY]?.translateToString(true)
  }
  terminal.dispose()
  return result
}

const readable: object = {
  buffer: "normal",
  plain: true,
  modes: {
    mouseTrackingMode: "none",
    bracketedPasteMode: false,
    sendFocusMode: false,
    originMode: false,
    insertMode: false
  },
  last: "Allow it? "
}

const forms = [
  "",
  "\x1b[8m",
  "\x1b[30;40m",
  "\x1b[38;2;1;1;1;48;2;1;1;1m",
  "\x1b[2;5;7;9m",
  "\x1b[?1049h\x1b[8m",
  "\x1b[?47h",
  "\x1b[?1047h",
  "\x1b(0",
  "\x1b)0\x0e",
  "\x1b[2;3r",
  "\x1b[2;3r\x1b[?6h",
  "\x1b[?25l",
  "\x1b[?7l",
  "\x1b[4h",
  "\x1b[?2026h",
  "\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h",
  "\x1b]0;an open title",
  "\x1bP an open string",
  "\x1b_open",
  "\x1b[3",
  "\x1b[8m\x1b7",
  "\x1b[8m\x1b[s"
]

describe("a question at the terminal", () => {
  for (const form of forms) {
    it(`can be read after ${JSON.stringify(form)}`, async () => assert.deepStrictEqual(await after(form), readable))
  }

  it("leaves what was written above it, and stands right below", async () => {
    const terminal = new Xterm.Terminal({ cols: 60, rows: 12, allowProposedApi: true })
    await new Promise<void>((resolve) => terminal.write(`above${TerminalQuestion.reset}\r\n${question}`, resolve))
    const lines = [0, 1].map((at) => terminal.buffer.active.getLine(at)?.translateToString(true))
    terminal.dispose()
    assert.deepStrictEqual(lines, ["above", question])
  })
})
