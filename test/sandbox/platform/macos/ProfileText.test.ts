import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ProfileText from "../../../../src/sandbox/platform/macos/ProfileText.js"
import * as PathGlob from "../../../../src/sandbox/policy/PathGlob.js"
import * as PathRule from "../../../../src/sandbox/policy/PathRule.js"

/** The expression as a JavaScript one: all that it uses means the same in both. */
const compiled = (pattern: string): RegExp => {
  const [, source = ""] = /^#"([^"]*)"$/s.exec(ProfileText.regex(pattern)) ?? []
  return new RegExp(source, "s")
}

const matcher = (pattern: string) => {
  const rules = [{ pattern, path: pattern, kind: "glob", source: "user" } as const]
  const { find } = PathRule.make(rules, { ignoreCase: true })
  return (path: string) => find(path) !== undefined
}

const piece = FastCheck.constantFrom(
  ..."a|b|e|n|v|A|Z|0|9|.|-|_| |+|(|)|$|^|,|'|ü".split("|"),
  ...[
    "*",
    "*",
    "?",
    "[ab]",
    "[!ab]",
    "[a-c]",
    "[0-9]",
    "[-a]",
    "[a^]",
    "[]a]",
    "[[:digit:]]",
    "\\*",
    "\\?",
    "\\[",
    "\\\\"
  ]
)
const patternName = FastCheck.oneof(
  { weight: 1, arbitrary: FastCheck.constant("**") },
  { weight: 4, arbitrary: FastCheck.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")) }
)
const pattern = FastCheck.array(patternName, { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.map((name) => name.replace(/\*{2,}(?=.)|(?<=.)\*{2,}/g, "*")).join("/")}`)
  .filter(
    (pattern) => PathGlob.hasWildcard(pattern) && !/^(?:\/\*+)+$/.test(pattern) && !/\/\.{1,2}(?=\/|$)/.test(pattern)
  )
const character = FastCheck.constantFrom(..."abcenvAZ059.-_ +()$^,'*?[]\\")
const text = FastCheck.array(character, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""))
const path = FastCheck.array(text, { minLength: 1, maxLength: 5 })
  .map((names) => `/${names.join("/")}`)
  .filter((path) => !/\/\.{1,2}(?=\/|$)/.test(path))

/** Paths near a pattern, so that many of them match. */
const instance = (pattern: string): string =>
  pattern
    .replace(/\[!.*?\]/g, "z")
    .replace(/\[\[:digit:\]\]/g, "5")
    .replace(/\[(.).*?\]/g, (_, first: string) => (first === "]" ? "a" : first))
    .replace(/\*\*/g, "x/y")
    .replace(/(?<!\\)[*?]/g, "q")
    .replace(/\\(.)/g, "$1")

describe("a wildcard's expression", () => {
  it("matches what the policy's matcher matches", () => {
    FastCheck.assert(
      FastCheck.property(pattern, path, (pattern, path) => {
        const matches = matcher(pattern)
        const expression = compiled(pattern)
        for (const each of [path, instance(pattern), `${instance(pattern)}/${path}`, `${path}${instance(pattern)}`]) {
          assert.strictEqual(expression.test(each), matches(each), `${pattern} (${expression}) on ${each}`)
        }
      }),
      { numRuns: 3000 }
    )
  })

  it("denies rather too much of what it can't say exactly", () => {
    for (const [pattern, path] of [
      ['/**/a"b*', '/x/a"bc'],
      ["/a\nb*", "/a\nbc"],
      ["/**/[ü]?", "/x/üä"],
      ["/**/[!ü]a", "/x/éa"],
      ["/**/?.key", "/x/ü.key"],
      ["/**/Ü*", "/x/ü.key"],
      ["/**/[[:punct:]]", "/x/!"]
    ] as const) {
      assert.isTrue(compiled(pattern).test(path), pattern)
      assert.isFalse(compiled(pattern).test("/xx/other/name"), pattern)
    }
  })

  it("is anchored, and made of what every language of expressions has", () => {
    FastCheck.assert(
      FastCheck.property(pattern, (pattern) => {
        const expression = ProfileText.regex(pattern)
        assert.match(expression, /^#"\^[^"\x00-\x1f]*\(\$\|\/\)"$/)
        // A backslash that is escaped itself escapes nothing.
        assert.notMatch(expression.replaceAll("\\\\", ""), /\(\?|\*\?|\+\?|\\[a-z0-9]/i)
      })
    )
  })

  it("has its examples", () => {
    assert.deepStrictEqual(["/**/.env", "/home/*.pem"].map(ProfileText.regex), [
      '#"^(/[^/]+)*/\\.[eE][nN][vV]($|/)"',
      '#"^/[hH][oO][mM][eE]/[^/]*\\.[pP][eE][mM]($|/)"'
    ])
  })
})

describe("a string", () => {
  it("escapes what would end or change it", () => {
    assert.strictEqual(ProfileText.string('/a "b"\\c\nd\te ü'), '"/a \\"b\\"\\\\c\\nd\\te ü"')
  })
})
