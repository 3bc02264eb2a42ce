/** The live area on a real terminal. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { LiveArea } from "../../src/terminal/internal/LiveArea.js"
import * as Temporary from "../support/Temporary.js"
import * as Tmux from "../support/terminal/Tmux.js"

describe.skipIf(!Tmux.isThere)("a live area in tmux", () => {
  it("that begins in the first row leaves no frame in the scrollback", () =>
    Temporary.using(async (directory) => {
      const area = new LiveArea()
      const frames = [["a1", "b1"], ["a2"], ["a3", "b3", "c3"], ["b4", "c4"]].map((live) => area.draw([], live, 40))
      const written = path.join(directory, "frames")
      fs.writeFileSync(written, [...frames, area.draw(["done"], [], 40)].join(""))
      await Tmux.using(
        { directory, cwd: directory, command: ["cat", written], columns: 40, rows: 20 },
        async (tmux) => {
          const lines = await tmux.endsWith("done", "left with 0")
          assert.deepStrictEqual(
            lines.filter((line) => line !== ""),
            ["done", "left with 0"]
          )
        }
      )
    }))
})
