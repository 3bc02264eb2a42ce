import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Search from "../../../src/commands/search/Search.js"
import * as Slices from "../../../src/domain/Slices.js"
import * as Extension from "../../support/Extension.js"

const rank = (entries: ReadonlyArray<Search.Entry>, ...patterns: ReadonlyArray<string>) =>
  Slices.now(Search.steps(entries, Search.wordsOf(patterns)))

const names = (entries: ReadonlyArray<Search.Entry>, ...patterns: ReadonlyArray<string>) =>
  rank(entries, ...patterns).entries.map(({ name }) => name)

const mcp = (name: string, summary = "") => Search.makeEntry(name, "mcp", summary)
const agent = (name: string, summary = "") => Search.makeEntry(name, "agent", summary)
const native = (name: string) => Search.makeEntry(name, "native", "")

const letters = FastCheck.string({ unit: FastCheck.constantFrom(..."abcAB_:-. é中"), maxLength: 8 })
const kinds = FastCheck.constantFrom<Search.Kind>("agent", "mcp", "skill", "extension", "native")
const entries = FastCheck.array(FastCheck.tuple(letters, kinds, letters), { maxLength: 12 }).map((all) =>
  all.map(([name, kind, summary]) => Search.makeEntry(name, kind, summary))
)

describe("the rank of a command", () => {
  it("is by the name first, then by the description, then by what is nearly so", () => {
    const all = [
      mcp("mcp:a:near_isue"),
      mcp("mcp:a:x9", "Reissues a card."),
      mcp("mcp:a:x8", "Lists the issues."),
      mcp("mcp:a:x7", "Closes an issue."),
      mcp("mcp:a:reissue"),
      mcp("mcp:a:issues_all"),
      mcp("mcp:a:close-issue"),
      mcp("mcp:a:closeIssue"),
      agent("issuer"),
      agent("issue")
    ]
    assert.deepStrictEqual(names(all, "issue"), [
      "issue",
      "issuer",
      "mcp:a:close-issue",
      "mcp:a:closeIssue",
      "mcp:a:issues_all",
      "mcp:a:reissue",
      "mcp:a:x7",
      "mcp:a:x8"
    ])
    assert.deepStrictEqual(names(all.slice(0, 1), "issue"), ["mcp:a:near_isue"])
    assert.deepStrictEqual(names([agent("read"), agent("write")], "raed"), ["read"])
  })

  it("counts all words", () => {
    const all = [mcp("mcp:gh:create_issue"), mcp("mcp:gh:create"), mcp("mcp:gh:list", "Issues of what they create.")]
    assert.deepStrictEqual(rank(all, "create issue").isPartial, false)
    assert.deepStrictEqual(names(all, "ISSUE", "create"), ["mcp:gh:create_issue", "mcp:gh:list"])
    assert.deepStrictEqual(names(all, "issue create  "), names(all, "create", "issue", "issue"))
    const partial = rank(all, "create issue flurb")
    assert.deepStrictEqual(
      [partial.isPartial, partial.entries.map(({ name }) => name)],
      [true, ["mcp:gh:create_issue", "mcp:gh:list"]]
    )
    assert.deepStrictEqual(rank(all, "flurb"), { entries: [], isPartial: true })
  })

  it("puts the system's programs last, but for one of exactly that name", () => {
    const all = [native("git"), native("gitk"), mcp("mcp:git:status"), agent("legit"), mcp("mcp:a:b", "Asks git.")]
    assert.deepStrictEqual(names(all, "git"), ["git", "mcp:git:status", "legit", "mcp:a:b", "gitk"])
  })

  it("is the name's order where commands fit equally, and without words", () => {
    const all = [mcp("mcp:b:x"), agent("z"), native("a"), mcp("mcp:a:x")]
    assert.deepStrictEqual(names(all, "x"), ["mcp:a:x", "mcp:b:x"])
    assert.deepStrictEqual(names(all), ["z", "mcp:a:x", "mcp:b:x", "a"])
  })

  it("finds each of 1,000 tools by its name, first", () => {
    const all = Search.maker()(Extension.tools(1000))
    for (const { name } of all.filter((_, at) => at % 37 === 0)) assert.strictEqual(names(all, name)[0], name)
    assert.isAbove(names(all, "create issue").length, 10)
  })

  it("depends neither on the order of the commands nor on that of the words, and invents nothing", () => {
    FastCheck.assert(
      FastCheck.property(entries, FastCheck.array(letters, { maxLength: 4 }), (all, patterns) => {
        const found = rank(all, ...patterns)
        const other = rank(all.toReversed(), ...patterns.toReversed())
        const shown = (ranked: Search.Ranked) => ranked.entries.map(({ kind, name }) => [name, kind].join(" "))
        assert.deepStrictEqual(new Set(shown(found)), new Set(shown(other)))
        assert.strictEqual(found.isPartial, other.isPartial)
        assert.isTrue(found.entries.every((entry) => all.includes(entry)))
        assert.strictEqual(new Set(found.entries).size, found.entries.length)
      })
    )
  })

  it("begins with a command of exactly that name, and holds all whose names hold the word", () => {
    FastCheck.assert(
      FastCheck.property(entries, letters, (all, pattern) => {
        const [word, more] = Search.wordsOf([pattern])
        if (word === undefined || more !== undefined) return
        const found = rank(all, word).entries
        if (all.some(({ key }) => key === word)) assert.strictEqual(found[0]?.key, word)
        const holding = all.filter(({ key }) => key.includes(word))
        if (holding.length > 0) assert.isTrue(holding.every((entry) => found.includes(entry)))
      })
    )
  })
})
