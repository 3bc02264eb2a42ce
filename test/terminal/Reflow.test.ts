import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { erased } from "../../src/terminal/internal/LineEditing.js"
import { LiveArea } from "../../src/terminal/internal/LiveArea.js"
import * as Terminal from "../../src/terminal/Terminal.js"

const read = (variables: Readonly<Record<string, string>>) =>
  Effect.runSync(
    Effect.withConfigProvider(Terminal.reflowConfig, ConfigProvider.fromMap(new Map(Object.entries(variables))))
  )

describe("the rows that a narrower terminal breaks", () => {
  it("are all, but for those of terminals which are known to leave some", () => {
    assert.strictEqual(read({}), "all")
    assert.strictEqual(read({ TERM_PROGRAM: "WezTerm" }), "all")
    assert.strictEqual(read({ TERM_PROGRAM: "vscode" }), "others")
    assert.strictEqual(read({ XTERM_VERSION: "XTerm(379)" }), "none")
    assert.strictEqual(read({ XTERM_VERSION: "XTerm(379)", TMUX: "/tmp/tmux,1,0" }), "all")
    assert.strictEqual(read({ TERM_PROGRAM: "vscode", TMUX: "/tmp/tmux,1,0" }), "all")
  })

  it("are counted to erase what was drawn, and no more", () => {
    const cells = Array.from({ length: 40 }, () => ({ text: "a", width: 1 }))
    const frame = { rows: [cells, cells.slice(0, 30)], row: 1, column: 30 }
    const rowsUp = (text: string) => Number(/\x1b\[(\d+)A/.exec(text)?.[1] ?? 0)
    assert.deepStrictEqual(
      (["all", "others", "none"] as const).map((reflow) => rowsUp(erased(frame, 20, reflow))),
      [3, 2, 1]
    )
    assert.deepStrictEqual(
      (["all", "others", "none"] as const).map((reflow) => {
        const area = new LiveArea(reflow)
        area.draw([], ["a".repeat(39), "b"], 40)
        return rowsUp(area.draw([], ["a".repeat(19), "b"], 20))
      }),
      [3, 3, 2]
    )
  })
})
