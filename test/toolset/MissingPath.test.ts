import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as MissingPath from "../../src/toolset/MissingPath.js"

describe("MissingPath.meant", () => {
  it("looks for a path once, however many times the command names it", () => {
    const looks = (command: string) => {
      let count = 0
      const around = {
        kindOf: (path: string) => {
          count++
          return path === "/" ? ("directory" as const) : undefined
        },
        entries: () => [],
        programs: () => []
      }
      const line = CommandLine.parse(command)
      const said = "bash: /a/b: No such file or directory"
      assert.strictEqual(MissingPath.meant(line, said, "/", around), undefined)
      return count
    }
    assert.isAbove(looks("/a/b"), 0)
    assert.strictEqual(looks("/a/b ".repeat(500)), looks("/a/b"))
  })
})
