import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Yaml from "yaml"
import * as FrontMatter from "../../../src/extension/skill/FrontMatter.js"

const notYaml = "its front matter is not valid YAML, and was read line by line"
const open = "its front matter does not end with a line ---"

const read = (markdown: string): Readonly<Record<string, string>> => {
  const { fields, ...rest } = FrontMatter.read(markdown, Yaml)
  return { ...Object.fromEntries(fields), ...rest }
}

/** A front matter with this description, by both ways of reading. */
const described = (lines: string) => {
  const exact = FrontMatter.read(`---\n${lines}\n---\n`, Yaml)
  const rough = FrontMatter.read(`---\n${lines}\n---\n`, undefined)
  assert.deepStrictEqual(rough.fields.get("description"), exact.fields.get("description"), lines)
  return exact.fields.get("description")
}

describe("a front matter", () => {
  it("holds texts, as they were written", () =>
    assert.deepStrictEqual(
      read(`---
name: pdf   # the directory's
description: yes
version: 1.0
license: 'It''s "free"'
allowed-tools: [Read, "Bash(git:*)"]
metadata:
  author: me
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
        empty: "",
        text: "# Title\n\ntext\n"
      }
    ))

  it("is read alike with a parser and line by line", () => {
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
        ""
      ]
    )
  })

  it("is read line by line where it is no YAML", () => {
    assert.deepStrictEqual(read("---\nname: x\ndescription: Use when: a: b\n---\nt"), {
      name: "x",
      description: "Use when: a: b",
      text: "t",
      problem: notYaml
    })
    assert.deepStrictEqual(read("---\nname: x\ndescription: a\n\tb\n@foo\n  - [\n---\n"), {
      name: "x",
      description: "a b",
      text: "",
      problem: notYaml
    })
    assert.strictEqual(read('---\ndescription: "not closed\n---\n')["problem"], notYaml)
    assert.strictEqual(read("---\njust a text\n---\nt")["problem"], notYaml)
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

  it("is refused what would take long: references to itself, depth, length", () => {
    const levels = "abcdefghij".split("")
    const bomb = levels
      .map((key, at) => `${key}: &${key} [${`*${levels[at - 1]},`.repeat(at === 0 ? 0 : 9)}x]`)
      .join("\n")
    assert.strictEqual(read(`---\n${bomb}\ndescription: y\n---\n`)["problem"], notYaml)
    assert.strictEqual(read(`---\n${bomb}\ndescription: y\n---\n`)["description"], "y")
    assert.strictEqual(read(`---\na: ${"[".repeat(100)}\n---\n`)["problem"], notYaml)
    assert.strictEqual(read(`---\na: ${"[".repeat(8000)}\n---\n`)["problem"], undefined)
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
        for (const parser of [Yaml, undefined]) {
          const text = `x${below}`
          const read = FrontMatter.read(
            `---\n${lines.filter((one) => !/^(---|\.\.\.)/.test(one)).join("\n")}\n---\n${text}`,
            parser
          )
          assert.isTrue(read.text.endsWith(text))
          for (const value of read.fields.values()) assert.isString(value)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("gives any description back that YAML itself has written", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "grapheme" }), (description) => {
        const matter = Yaml.stringify({ name: "x", description })
        const { fields, problem } = FrontMatter.read(`---\n${matter}---\n`, Yaml)
        assert.deepStrictEqual([fields.get("description"), problem], [description.trim(), undefined])
      })
    )
  })
})
