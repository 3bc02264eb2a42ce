import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Nearest from "../../../src/commands/edit/internal/Edit.nearest.js"
import * as Yield from "../../../src/domain/Yield.js"

const report = (content: string, old: string) => Yield.now(Nearest.steps(Buffer.from(content), Buffer.from(old)))

const code = `import a from "a"

function add(first, second) {
\treturn first + second
}

function sub(first, second) {
\treturn first - second
}
`

describe("edit, where the old text is not found", () => {
  it("shows the line of which only the end differs", () => {
    const file = "return xy\nreturn x\n}\nlet c = call(1, 2)\nlet d = 1;\nlet d = 1\n"
    const cases: ReadonlyArray<readonly [old: string, report: string]> = [
      ["return x;", "The nearest lines:\n     2\treturn x\n     1\treturn xy"],
      ["let c = call(1, 2);", "The nearest lines:\n     4\tlet c = call(1, 2)"],
      ["let d = 1,", "The nearest lines:\n     6\tlet d = 1\n     5\tlet d = 1;"],
      ["return x\n}\nlet c = call(1, 2),\nlet", "The nearest lines:\n     4\tlet c = call(1, 2)"]
    ]
    for (const [old, expected] of cases) assert.strictEqual(report(file, old), expected)
  })

  it("shows the lines that differ in white space or case alone", () => {
    const cases: ReadonlyArray<readonly [content: string, old: string, lines: string, shown: string]> = [
      [code, "    return first + second", "Line 4 matches", "     4\t\treturn first + second"],
      ["a  \nb\n", "a\nb", "Lines 1-2 match", "     1\ta  \n     2\tb"],
      ["a\r\nb\r\n", "a\nb\n", "Lines 1-2 match", "     1\ta\n     2\tb"],
      ["f(a,\n  b)\n", "f(a, b)", "Lines 1-2 match", "     1\tf(a,\n     2\t  b)"],
      ["x\nHello World\n", "hello world", "Line 2 matches", "     2\tHello World"]
    ]
    for (const [content, old, lines, shown] of cases) {
      assert.strictEqual(report(content, old), `${lines} but for white space or the case of letters:\n${shown}`)
    }
  })

  it("shows no more than a few places, and of each a few lines", () => {
    assert.strictEqual(
      report("A b\n".repeat(10), "a  b"),
      [1, 2, 3]
        .map((line) => `Line ${line} matches but for white space or the case of letters:\n     ${line}\tA b`)
        .join("\n")
    )
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const many = report(`${lines.join("\n")}\n`, lines.join(" \n"))
    assert.strictEqual(many.split("\n").length, 8)
    assert.match(many, /^Lines 1-20 match but for white space or the case of letters:\n/)
    assert.match(many, /\n {6}\t\.\.\.$/)
  })

  it("shows the first other line around the longest one, wherever that is", () => {
    const there = (line: string, old: string) =>
      `Around it, this differs first:\n${line}\nwhere the old text has:\n      \t${old}`
    assert.strictEqual(
      report(code, "function add(first, second) {\n  return first * second\n}\n"),
      `The nearest lines:\n     3\tfunction add(first, second) {\n${there("     4\t\treturn first + second", "  return first * second")}`
    )
    assert.strictEqual(
      report(code, "};\n\nfunction sub(first, second) {\n"),
      `The nearest lines:\n     7\tfunction sub(first, second) {\n${there("     5\t}", "};")}`
    )
    assert.strictEqual(
      report("start\nmiddle", "start\nmiddle\nend\n"),
      "The nearest lines:\n     2\tmiddle\nThe file ends\nwhere the old text has:\n      \tend"
    )
  })

  it("shows the lines that are most like it", () => {
    assert.strictEqual(
      report(code, "export function sum(first, second)"),
      "The nearest lines:\n     7\tfunction sub(first, second) {\n     3\tfunction add(first, second) {"
    )
    assert.strictEqual(report(code, "class Something extends Nothing {}"), "No line of the file is like it.")
    assert.strictEqual(report("", "a"), "The file is empty.")
    assert.strictEqual(report("a", " \n"), "No line of the file is like it.")
  })

  it("finds what differs in white space and case only, wherever it is", () => {
    const mess = FastCheck.array(FastCheck.constantFrom("", " ", "\t", "\n", "\r\n"), { minLength: 9, maxLength: 9 })
    const letters = FastCheck.array(FastCheck.constantFrom("a", "B", "é"), { minLength: 1, maxLength: 9 })
    const spread = (parts: ReadonlyArray<string>, gaps: ReadonlyArray<string>) =>
      parts.map((part, index) => part + (index < parts.length - 1 ? gaps[index] : "")).join("")
    FastCheck.assert(
      FastCheck.property(letters, mess, mess, FastCheck.string({ maxLength: 20 }), (parts, gaps, others, before) => {
        const there = spread(parts, gaps).toUpperCase().replaceAll("É", "é")
        const bytes = Buffer.from(`${before}${there}`)
        const matches = Yield.now(Nearest.search(bytes, Buffer.from(spread(parts, others).toLowerCase()), 1000))
        const plain = (text: string) => text.replace(/\s/g, "").toLowerCase()
        assert.isAbove(matches.length, 0)
        for (const { end, start } of matches) {
          assert.strictEqual(plain(bytes.subarray(start, end).toString()), plain(parts.join("")))
        }
      }),
      { numRuns: 100 }
    )
  })
})
