import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Nearest from "../../../src/commands/edit/internal/Edit.nearest.js"
import * as Slices from "../../../src/domain/Slices.js"

const report = (content: string, old: string) => Slices.now(Nearest.steps(Buffer.from(content), Buffer.from(old)))

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

  it("names the white space that differs", () => {
    const cases: ReadonlyArray<readonly [content: string, old: string, report: string]> = [
      [
        code,
        "    return first + second",
        "Line 4 matches but for: indentation (tabs in the file, spaces in the old text)\n     4\t\treturn first + second"
      ],
      ["x\n  y\n", "    y", "Line 2 matches but for: indentation\n     2\t  y"],
      [
        "a  \nb\n",
        "a\nb",
        "Lines 1-2 match but for: blanks at the end of a line (in the file)\n     1\ta  \n     2\tb"
      ],
      [
        "a\nb\n",
        "a \nb",
        "Lines 1-2 match but for: blanks at the end of a line (in the old text)\n     1\ta\n     2\tb"
      ],
      ["ab\n", "ab ", "Line 1 matches but for: blanks at the end of a line (in the old text)\n     1\tab"],
      [
        "a\r\nb\r\n",
        "a\nb\n",
        "Lines 1-2 match but for: line ends (CRLF in the file, LF in the old text)\n     1\ta\n     2\tb"
      ],
      [
        "a\nb\n",
        "a\r\nb",
        "Lines 1-2 match but for: line ends (LF in the file, CRLF in the old text)\n     1\ta\n     2\tb"
      ],
      ["a = 1\n", "a=1", "Line 1 matches but for: blanks within a line\n     1\ta = 1"],
      [
        "a\tb\n",
        "a b",
        "Line 1 matches but for: blanks within a line (tabs in the file, spaces in the old text)\n     1\ta\tb"
      ],
      ["f(a,\n  b)\n", "f(a, b)", "Lines 1-2 match but for: line breaks\n     1\tf(a,\n     2\t  b)"],
      [
        "a\n\n\nb\n",
        "a\n\nb",
        "Lines 1-4 match but for: the number of empty lines\n     1\ta\n     2\t\n     3\t\n     4\tb"
      ],
      ["x\nHello World\n", "hello world", "Line 2 matches but for: the case of letters\n     2\tHello World"],
      ["a\nb", "a\nb\n", "Lines 1-2 match but for: line breaks\n     1\ta\n     2\tb"],
      [
        "if (a) {\r\n\tB()  \r\n}\r\n",
        "if (a) {\n    b()\n}\n",
        "Lines 1-3 match but for: line ends (CRLF in the file, LF in the old text); indentation (tabs in the file, spaces in the old text); blanks at the end of a line (in the file); the case of letters\n     1\tif (a) {\n     2\t\tB()  \n     3\t}"
      ]
    ]
    for (const [content, old, expected] of cases) assert.strictEqual(report(content, old), expected)
  })

  it("shows no more than a few places, and of each a few lines", () => {
    assert.strictEqual(
      report("A b\n".repeat(10), "a  b"),
      [1, 2, 3]
        .map((line) => `Line ${line} matches but for: blanks within a line; the case of letters\n     ${line}\tA b`)
        .join("\n")
    )
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const many = report(`${lines.join("\n")}\n`, lines.join(" \n"))
    assert.strictEqual(many.split("\n").length, 8)
    assert.match(many, /^Lines 1-20 match but for: blanks at the end of a line \(in the old text\)\n/)
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
        const matches = Slices.now(Nearest.search(bytes, Buffer.from(spread(parts, others).toLowerCase()), 1000))
        const plain = (text: string) => text.replace(/\s/g, "").toLowerCase()
        assert.isAbove(matches.length, 0)
        for (const { end, start } of matches) {
          assert.strictEqual(plain(bytes.subarray(start, end).toString()), plain(parts.join("")))
        }
      }),
      { numRuns: 1000 }
    )
  })
})
