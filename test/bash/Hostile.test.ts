import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as Diagnosis from "../../src/toolset/internal/Diagnosis.js"

/** Beginnings and things that, repeated, made the scanner go back and forth, or overflow a stack. */
const repeated = [
  ";",
  "a ",
  ">a ",
  "1",
  " ",
  "\\\n",
  "1\\\n",
  "{a[",
  "{a[(",
  "a[",
  "a=(",
  "$(",
  "$((",
  "$((a ",
  "${",
  '"${x:-',
  "`",
  "\\`",
  "<(a) ",
  "(",
  "((a;",
  "~=:",
  "*?[a]",
  "{a,b}",
  "'",
  '"$a',
  "$'\\n",
  "é🙂",
  "\0",
  "cat <<E\nE\n",
  "cat <<-E\n\tE\n",
  "cat <<E\nx\\\nE\nE\n",
  "cat <<E ",
  "$(case x in a) "
]

const most = 20_001

const check = (text: string) => {
  const line = CommandLine.parse(text)
  const { tokens } = line
  assert.isAtMost(tokens.length, most)
  const misplaced = tokens.find(({ start }, at) => start !== (tokens[at - 1]?.end ?? 0))
  assert.isUndefined(misplaced)
  assert.strictEqual(tokens.at(-1)?.end, text.length)
  Diagnosis.candidates(line)
  return line
}

describe("a command of any length", () => {
  for (const part of repeated) {
    it(`${JSON.stringify(part)}, again and again, is read as far as that is quick`, () => {
      check(part.repeat(Math.ceil(300_000 / part.length)))
      const line = check(`TodoWrite x ${part.repeat(Math.ceil(3_000_000 / part.length))}`)
      assert.strictEqual(line.name, "TodoWrite")
      // What was not read is no reason to be sure: the shell gets it.
      assert.isFalse(line.literal)
      assert.deepStrictEqual(Diagnosis.candidates(line), [])
    })
  }

  it("is read whole where it is long, but little is in it", () => {
    const long = "x y\n".repeat(60_000)
    for (const text of [`a '${long}'`, `a "${long}"`, `a <<'E'\n${long}E\n`, `a <<E\n${long}E`]) {
      const line = check(text)
      assert.deepStrictEqual([line.name, line.literal], ["a", true])
      assert.strictEqual(line.input ?? line.words[0]?.value, long)
    }
    const spaces = " ".repeat(10_000_000)
    assert.strictEqual(CommandLine.parse(`TodoWrite${spaces}{}`).rest, "{}")
  })

  it("has its first word where something else comes before it, as far as is read", () => {
    assert.strictEqual(check(`${">x ".repeat(5000)}ls`).name, "ls")
    assert.strictEqual(check(`${">x ".repeat(50_000)}ls`).name, "")
    assert.strictEqual(check(`${"a".repeat(300_000)}`).name, "")
  })
})

describe("a here-document", () => {
  it("is the same, whichever way its end is found", () => {
    const cases: ReadonlyArray<readonly [text: string, body: string, closed: boolean]> = [
      ["a <<E\nE\n", "", true],
      ["a <<E\nE", "", true],
      ["a <<E\nb\nE", "b\n", true],
      ["a <<E\nb\nE\n", "b\n", true],
      ["a <<E\nb\nEE\nE\n", "b\nEE\n", true],
      ["a <<E\nb\\\nE\nE\n", "bE\n", true],
      ["a <<'E'\nb\\\nE\n", "b\\\n", true],
      ["a <<E\nb\n E\n", "b\n E\n", false],
      ["a <<-E\n\tb\n\tE\n", "b\n", true],
      ["a <<E\nb", "b", false],
      ["a <<''\nb\n\n", "b\n", true],
      ["a <<E\nb\\$c\nE\n", "b$c\n", true]
    ]
    for (const [text, body, closed] of cases) {
      const found = CommandLine.parse(text).hereDocument
      assert.deepStrictEqual([text, found?.body, found?.closed], [text, body, closed])
    }
  })
})
