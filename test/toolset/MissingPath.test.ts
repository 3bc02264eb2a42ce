import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import type { VisibleFiles } from "../../src/sandbox/VisibleFiles.js"
import * as MissingPath from "../../src/toolset/internal/MissingPath.js"

/** VisibleFiles with files, each by its path. */
const withFiles = (...files: ReadonlyArray<string>): VisibleFiles => {
  const kindOf = (path: string) =>
    files.includes(path) ? "file" : files.some((file) => file.startsWith(`${path}/`)) ? "directory" : undefined
  const entries = (directory: string, isWanted: (name: string) => boolean) =>
    [
      ...new Set(
        files.flatMap((file) =>
          file.startsWith(`${directory}/`) ? (file.slice(directory.length + 1).split("/", 1)[0] ?? []) : []
        )
      )
    ].filter(isWanted)
  return { kindOf, entries, programs: () => [] }
}

describe("MissingPath.meant", () => {
  const around = withFiles(
    "/p/pkg/calc.py",
    "/p/js/app.js",
    "/p/a/same.py",
    "/p/b/same.py",
    "/p/js/package.json",
    "/p/c/d/e/f/deep.py"
  )
  for (const [command, stderr, meant] of [
    ["cat calc.py", "cat: calc.py: No such file or directory", "pkg/calc.py"],
    ["cat src/pkg/calc.py", "cat: src/pkg/calc.py: No such file or directory", "pkg/calc.py"],
    ["cat pkg/calc", "cat: pkg/calc: No such file or directory", "pkg/calc.py"],
    ["head ./calc.py", "head: cannot open './calc.py' for reading: No such file or directory", "./pkg/calc.py"],
    ["node js/ap.js", "Error: Cannot find module '/p/js/ap.js'", "js/app.js"],
    ["pytest pkg/clac.py", "ERROR: file or directory not found: pkg/clac.py", "pkg/calc.py"],
    ["cat same.py", "cat: same.py: No such file or directory", undefined],
    ["cat deep.py", "cat: deep.py: No such file or directory", undefined],
    ["cat pkg/package.json", "cat: pkg/package.json: No such file or directory", undefined],
    ["read path=pkg/calc.py", "read: path=pkg/calc.py: No such file or directory", undefined],
    ["(cd x; cat calc.py)", "cat: calc.py: No such file or directory", undefined]
  ] as const) {
    it(`is ${meant ?? "not known"} for ${command}`, () => {
      assert.strictEqual(MissingPath.meant(CommandLine.parse(command), `${stderr}\n`, "/p", around), meant)
    })
  }

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
