/** Against a real bash: it is the measure of what a wildcard means. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as PathGlob from "../../../src/sandbox/policy/PathGlob.js"
import * as Bash from "../../support/sandbox/Bash.js"

const text = (alphabet: ReadonlyArray<string>, maxLength: number) =>
  FastCheck.array(FastCheck.constantFrom(...alphabet), { minLength: 1, maxLength }).map((parts) => parts.join(""))

const names = ["a", "b", "c", ".", "-", "]", "[", "!", "^", "*", "\\", "é", "🙂", "\n", "$", "|", "+"]
const wildcards = [
  "*",
  "?",
  "**",
  "[ab]",
  "[!a]",
  "[^a]",
  "[a-c]",
  "[]a]",
  "[a-]",
  "[[:alpha:]]",
  "\\*",
  "\\a",
  "[\\]b]"
]

describe("a name's wildcards", () => {
  it("match what bash matches", () => {
    const pattern = text([...names.filter((name) => !"\\[]".includes(name)), ...wildcards], 6)
    const pairs = FastCheck.sample(FastCheck.tuple(pattern, text(names, 5)), 4000)
    const expected = Bash.matchNames(pairs)
    const wrong = pairs.filter(([glob, name], at) => PathGlob.compileNames([glob], false).test(name) !== expected[at])
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(expected.filter(Boolean).length, 50)
  })

  it("match what bash matches where brackets are left open", () => {
    const pairs = FastCheck.sample(
      FastCheck.tuple(text(["a", "[", "]", "!", "*"], 5), text(["a", "[", "]", "!"], 4)),
      3000
    )
    const expected = Bash.matchNames(pairs)
    const wrong = pairs.filter(([glob, name], at) => PathGlob.compileNames([glob], false).test(name) !== expected[at])
    assert.deepStrictEqual(wrong, [])
  })
})

describe("a path's wildcards", () => {
  it("cover what bash finds, and all below", () => {
    const part = FastCheck.constantFrom(
      "a",
      "b",
      "ab",
      ".a",
      "*",
      "?",
      "**",
      "a*",
      "*a",
      ".*",
      "[ab]",
      "[!.]*",
      "a**",
      "?b"
    )
    const patterns = FastCheck.sample(FastCheck.array(part, { minLength: 1, maxLength: 4 }), 400).map((parts) =>
      parts.join("/")
    )
    Bash.withTree(["a", "b", "ab", ".a"], (root, paths) => {
      const expected = Bash.findPaths(root, patterns)
      patterns.forEach((pattern, at) => {
        const found = expected[at] ?? new Set()
        const isCovered = (path: string): boolean =>
          found.has(path) || (path !== "" && isCovered(path.slice(0, path.lastIndexOf("/"))))
        const expression = PathGlob.compile([`/${pattern}`], false)
        assert.deepStrictEqual(
          paths.filter((path) => expression.test(path)),
          paths.filter(isCovered),
          pattern
        )
      })
    })
  })
})

describe("alternatives", () => {
  it("are those that bash sees", () => {
    const { whole } = FastCheck.letrec((tie) => ({
      part: FastCheck.oneof(
        { maxDepth: 3 },
        FastCheck.constantFrom("a", "b", "\\,", "\\{", "\\}", ","),
        FastCheck.array(tie("whole"), { minLength: 1, maxLength: 3 }).map((parts) => `{${parts.join(",")}}`)
      ),
      whole: FastCheck.array(tie("part"), { maxLength: 3 }).map((parts) => parts.join(""))
    }))
    const texts = FastCheck.sample(whole, 1000).filter((each) => !each.includes("{}"))
    const expected = Bash.expandBraces(texts)
    // Bash takes the backslashes away, and what is empty with them.
    const plain = (all: ReadonlyArray<string> | undefined) =>
      (all ?? []).map(PathGlob.unescape).filter((each) => each !== "")
    texts.forEach((each, at) => {
      assert.deepStrictEqual(plain(PathGlob.expandBraces(each, 1_000_000)), expected[at], each)
    })
  })
})
