import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as FrontMatter from "../../../src/extension/skill/FrontMatter.js"

const open = "its front matter does not end with a line ---"

const read = (markdown: string): Readonly<Record<string, string>> => {
  const { fields, ...rest } = FrontMatter.read(markdown)
  return { ...Object.fromEntries(fields), ...rest }
}

const described = (lines: string) => FrontMatter.read(`---\n${lines}\n---\n`).fields.get("description")

describe("a front matter", () => {
  it("holds texts, as they were written", () =>
    assert.deepStrictEqual(
      read(`---
name: pdf   # the directory's
description: yes
version: 1.0
license: 'It''s "free"'
allowed-tools: [Read, "Bash(git:*)"]
skills:
  # those of this directory
  - pdf
  - 'docx'
"quoted": x
empty:
---

# Title

text
`),
      {
        name: "pdf",
        description: "yes",
        version: "1.0",
        license: `It's "free"`,
        "allowed-tools": "Read, Bash(git:*)",
        skills: "pdf, docx",
        quoted: "x",
        empty: "",
        text: "# Title\n\ntext\n"
      }
    ))

  it("may write its values in all ways of YAML", () => {
    assert.deepStrictEqual(
      [
        "description: plain text, with commas # and a comment",
        'description: "quoted: \\"x\\" # no comment"',
        "description: 'it''s: quoted'",
        "description: >\n  folded\n  lines\n\n  and more\nname: x",
        "description: >-  # folded\n  a\n  b",
        "description: |\n  literal\n    indented\n  lines\n",
        "description: plain\n  goes on\n  here",
        "description: 'quoted\n  goes on'",
        "# comment\n\ndescription:\n  below",
        "name: x\ndescription: http://example.org/a#b and c:d",
        'description: "a\\u00e9\\x41\\tb\\\\"',
        "description: [beta] of x [y]",
        "description:"
      ].map(described),
      [
        "plain text, with commas",
        'quoted: "x" # no comment',
        "it's: quoted",
        "folded lines\nand more",
        "a b",
        "literal\n  indented\nlines",
        "plain goes on here",
        "quoted goes on",
        "below",
        "http://example.org/a#b and c:d",
        "a\u00e9A\tb\\",
        "[beta] of x [y]",
        ""
      ]
    )
  })

  it("may be no YAML", () => {
    assert.deepStrictEqual(read("---\nname: x\ndescription: Use when: a: b\n---\nt"), {
      name: "x",
      description: "Use when: a: b",
      text: "t"
    })
    assert.deepStrictEqual(read("---\nname: x\ndescription: a\n\tb\n@foo\n  - [\n---\n"), {
      name: "x",
      description: "a b",
      text: ""
    })
    assert.deepStrictEqual(read('---\ndescription: "not closed\n---\n'), { description: '"not closed', text: "" })
    assert.deepStrictEqual(read("---\njust a text\n---\nt"), { text: "t" })
  })

  it("may have a byte order mark, CRLF, blank lines before it, and another end", () => {
    const expected = { name: "x", description: "y", text: "t\r\nu" }
    assert.deepStrictEqual(read("\ufeff---\r\nname: x\r\ndescription: y\r\n---\r\n\r\nt\r\nu"), expected)
    assert.deepStrictEqual(read("\n \n--- \nname: x\ndescription: y\n...\nt\r\nu"), expected)
  })

  it("ends before the text where it has no end, and its text stays whole", () => {
    assert.deepStrictEqual(read("---\nname: x\ndescription: y\n\n# Title\n\ntext: z\n"), {
      name: "x",
      description: "y",
      text: "# Title\n\ntext: z\n",
      problem: open
    })
    assert.deepStrictEqual(read("---\nname: x"), { name: "x", text: "", problem: open })
  })

  it("may be missing", () => {
    const problem = "it has no front matter, so that it has no description"
    for (const text of ["", "# Title\n---\nname: x\n---\n", "name: x"])
      assert.deepStrictEqual(read(text), { text, problem })
  })

  it("is not read where it is too long", () => {
    assert.match(read(`---\na: ${"x".repeat(20_000)}\n---\nt`)["problem"] ?? "", /longer than 8192 characters/)
    assert.deepStrictEqual(read("---\n__proto__: a\nconstructor: b\n---\n")["text"], "")
  })

  it("never throws, whatever it holds, and loses nothing of the text below it", () => {
    const line = FastCheck.oneof(
      FastCheck.string(),
      FastCheck.constantFrom(
        "---",
        "...",
        "name: x",
        "description: >",
        "  a",
        "- b",
        "\t",
        "# c",
        "a: &a [*a]",
        "'",
        '"',
        "{",
        "? x",
        "!!js y",
        "%YAML 1.2"
      )
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(line, { maxLength: 12 }), FastCheck.string(), (lines, below) => {
        const text = `x${below}`
        const matter = lines.filter((one) => !/^(---|\.\.\.)/.test(one)).join("\n")
        const read = FrontMatter.read(`---\n${matter}\n---\n${text}`)
        assert.isTrue(read.text.endsWith(text))
        for (const value of read.fields.values()) assert.isString(value)
      }),
      { numRuns: 300 }
    )
  })

  it("gives any description back that is quoted as in JSON", () => {
    const unit = FastCheck.constantFrom(..."ab \"'\\/#:-[]{}|>\n\t\r\b\f\0\u00e9\u2028\ud83d\ude00")
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit }), (description) => {
        assert.strictEqual(described(`description: ${JSON.stringify(description)}`), description)
      })
    )
  })
})
