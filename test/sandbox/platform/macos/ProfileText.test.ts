import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as MacOsPlatform from "../../../../src/sandbox/platform/macos/MacOsPlatform.js"
import * as GlobPattern from "../../../../src/sandbox/policy/GlobPattern.js"
import * as PathGlob from "../../../../src/sandbox/policy/PathGlob.js"
import * as PathRule from "../../../../src/sandbox/policy/PathRule.js"

/** The expression as a JavaScript one: all that it uses means the same in both. */
const compiled = (pattern: string): RegExp => {
  const [, source = ""] = /^#"([^"]*)"$/s.exec(MacOsPlatform.regex(pattern)) ?? []
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
    "[",
    "]",
    "!",
    "\\*",
    "\\?",
    "\\[",
    "\\\\"
  ]
)
/** Whether the profile can say it exactly: of other brackets it denies too much. */
const isExact = (pattern: string): boolean =>
  GlobPattern.parsePath(pattern).every(
    (part) =>
      part._tag === "AnyDirectories" ||
      part.pieces.every(
        (piece) =>
          piece._tag !== "Brackets" ||
          piece.members.every((member) =>
            member._tag === "Named"
              ? false
              : member._tag === "Range"
                ? /^(?:\d{2}|[a-z]{2}|[A-Z]{2})$/.test(member.from + member.to)
                : !piece.negated || /\w/.test(member.char)
          )
      )
  )
const patternName = FastCheck.oneof(
  { weight: 1, arbitrary: FastCheck.constant("**") },
  { weight: 4, arbitrary: FastCheck.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")) }
)
const pattern = FastCheck.array(patternName, { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.map((name) => name.replace(/\*{2,}(?=.)|(?<=.)\*{2,}/g, "*")).join("/")}`)
  .filter(
    (pattern) =>
      PathGlob.hasWildcard(pattern) &&
      isExact(pattern) &&
      !/^(?:\/\*+)+$/.test(pattern) &&
      !/\/\.{1,2}(?=\/|$)/.test(pattern)
  )
const character = FastCheck.constantFrom(..."abcenvAZ059.-_ +()$^,'*?[]!\\")
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
      { numRuns: 400 }
    )
  })

  it("reads brackets that nothing closes as the policy's matcher does", () => {
    for (const [pattern, path] of [
      ["/**/*[].txt", "/x/a[].txt"],
      ["/**/*[!].txt", "/x/a[!].txt"],
      ["/**/[]a].txt", "/x/].txt"],
      ["/**/[a.*", "/x/[a.b"],
      ["/**/[a/b]*", "/x/[a/b]c"]
    ] as const) {
      assert.isTrue(matcher(pattern)(path) && compiled(pattern).test(path), pattern)
      assert.isFalse(compiled(pattern).test("/x/b.txt"), pattern)
    }
  })

  it("matches all that the policy's matcher matches, whatever is in brackets", () => {
    const member = FastCheck.oneof(
      FastCheck.constantFrom(...'aZ5.-!^ü🙂_ $&"'.split(""), "\\]", "\\-", "\\\\"),
      FastCheck.constantFrom("a-c", "A-C", "0-9", "A-c", "!-/", "[-~", "à-ü"),
      FastCheck.constantFrom(
        ..."alnum alpha blank cntrl digit graph lower print punct space upper xdigit".split(" ")
      ).map((name) => `[:${name}:]`)
    )
    const brackets = FastCheck.tuple(
      FastCheck.constantFrom("", "!", "^"),
      FastCheck.array(member, { minLength: 1 })
    ).map(([negation, members]) => `/x/[${negation}${members.join("")}]`)
    const names = [..."abcmzABCMZ059.-!^_ $&\"'*?[]~\t\nüÜàéçß", "🙂", "K"]
    let matched = 0
    FastCheck.assert(
      FastCheck.property(brackets, (pattern) => {
        const matches = matcher(pattern)
        try {
          matches("/")
        } catch {
          // The ends of a range are the wrong way round: no policy has it.
          return
        }
        const expression = compiled(pattern)
        for (const name of names.filter((name) => matches(`/x/${name}`))) {
          matched++
          assert.isTrue(expression.test(`/x/${name}`), `${pattern} (${expression}) on ${JSON.stringify(name)}`)
        }
      }),
      { numRuns: 100 }
    )
    assert.isAbove(matched, 250)
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
        const expression = MacOsPlatform.regex(pattern)
        assert.match(expression, /^#"\^[^"\x00-\x1f]*\(\$\|\/\)"$/)
        // A backslash that is escaped itself escapes nothing.
        assert.notMatch(expression.replaceAll("\\\\", ""), /\(\?|\*\?|\+\?|\\[a-z0-9]/i)
      })
    )
  })

  it("has its examples", () => {
    assert.deepStrictEqual(["/**/.env", "/home/*.pem"].map(MacOsPlatform.regex), [
      '#"^(/[^/]+)*/\\.[eE][nN][vV]($|/)"',
      '#"^/[hH][oO][mM][eE]/[^/]*\\.[pP][eE][mM]($|/)"'
    ])
  })
})

describe("a string", () => {
  it("escapes what would end or change it", () => {
    assert.strictEqual(MacOsPlatform.string('/a "b"\\c\nd\te ü'), '"/a \\"b\\"\\\\c\\nd\\te ü"')
  })
})
