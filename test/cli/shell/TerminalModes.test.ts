import { assert, describe, it } from "@effect/vitest"
import { TerminalModes } from "../../../src/cli/shell/CommandRun.js"

const resetAfter = (...chunks: ReadonlyArray<string>): string => {
  const modes = new TerminalModes()
  for (const chunk of chunks) modes.take(Buffer.from(chunk))
  return modes.reset()
}

const always = "\x1b[m\x0f"

describe("the modes that a program leaves", () => {
  it("changes nothing where the program has put all back", () => {
    assert.strictEqual(resetAfter("\x1b[?1049h\x1b[?25l text \x1b[?25h\x1b[?1049l"), `\x1b\\${always}`)
  })

  it("changes back what was left, wherever a chunk ended", () => {
    assert.strictEqual(
      resetAfter("\x1b[?10", "49h\x1b[?25l\x1b[?2004;1006h", "\x1b[?2026", "h\x1b="),
      `\x1b\\\x1b>\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1006l\x1b[?2026l${always}`
    )
    assert.strictEqual(
      resetAfter("\x1b[>1u\x1b[>4;2m\x1b[5 q\x1b[2;9r"),
      `\x1b\\\x1b[<1u\x1b[>4m\x1b[0 q\x1b7\x1b[r\x1b8${always}`
    )
  })
})
