import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Search from "../../../src/commands/search/Search.js"
import * as Extension from "../../support/Extension.js"

const rank = (entries: ReadonlyArray<Search.Entry>, ...patterns: ReadonlyArray<string>) =>
  Search.rank(entries, Search.wordsOf(patterns))

const names = (entries: ReadonlyArray<Search.Entry>, ...patterns: ReadonlyArray<string>) =>
  rank(entries, ...patterns).entries.map(({ name }) => name)

const entry = (name: string, summary = "") => ({ name, summary })

const letters = FastCheck.string({ unit: FastCheck.constantFrom(..."abcAB_:-. é中"), maxLength: 8 })
const entries = FastCheck.array(FastCheck.tuple(letters, letters), { maxLength: 12 }).map((all) =>
  all.map(([name, summary]) => entry(name, summary))
)

describe("the rank of a command", () => {
  it("is by the name first, then by the description", () => {
    const all = [
      entry("mcp:a:x9", "Reissues a card."),
      entry("mcp:a:x7", "Closes an issue."),
      entry("mcp:a:reissue"),
      entry("mcp:a:close-issue"),
      entry("mcp:a:closeIssue"),
      entry("mcp:a:other"),
      entry("issuer"),
      entry("issue")
    ]
    assert.deepStrictEqual(names(all, "issue"), [
      "issue",
      "mcp:a:close-issue",
      "mcp:a:closeIssue",
      "issuer",
      "mcp:a:reissue",
      "mcp:a:x7",
      "mcp:a:x9"
    ])
  })

  it("counts all words", () => {
    const all = [entry("mcp:gh:create_issue"), entry("mcp:gh:create"), entry("mcp:gh:list", "Issues that they create.")]
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

  it("does not count words that tell nothing, unless there are no others", () => {
    const all = [entry("mcp:a:copy", "Copies an issue that they create."), entry("mcp:gh:create_issue")]
    assert.deepStrictEqual(names(all, "create an issue"), ["mcp:gh:create_issue", "mcp:a:copy"])
    assert.deepStrictEqual(names(all, "an"), ["mcp:a:copy"])
  })

  it("is the name's order where commands fit equally, and without words", () => {
    const all = [entry("mcp:b:x"), entry("z"), entry("mcp:a:x")]
    assert.deepStrictEqual(names(all, "x"), ["mcp:a:x", "mcp:b:x"])
    assert.deepStrictEqual(names(all), ["mcp:a:x", "mcp:b:x", "z"])
  })

  it("finds each of 1,000 tools by its name, first", () => {
    const all = Extension.tools(1000)
    for (const { name } of all.filter((_, at) => at % 37 === 0)) assert.strictEqual(names(all, name)[0], name)
    assert.isAbove(names(all, "create issue").length, 10)
  })

  it("depends neither on the order of the commands nor on that of the words, and invents nothing", () => {
    FastCheck.assert(
      FastCheck.property(entries, FastCheck.array(letters, { maxLength: 4 }), (all, patterns) => {
        const found = rank(all, ...patterns)
        const other = rank(all.toReversed(), ...patterns.toReversed())
        const shown = (of: typeof found) => new Set(of.entries.map(({ name, summary }) => `${name}|${summary}`))
        assert.deepStrictEqual(shown(found), shown(other))
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
        const isNamed = ({ name }: Search.Entry) => name.toLowerCase() === word
        if (all.some(isNamed)) assert.strictEqual(found[0]?.name.toLowerCase(), word)
        const holding = all.filter(({ name }) => name.toLowerCase().includes(word))
        assert.isTrue(holding.every((entry) => found.includes(entry)))
      })
    )
  })
})
