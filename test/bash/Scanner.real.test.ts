import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as CommandLine from "../../src/bash/CommandLine.js"
import type { Token } from "../../src/bash/Token.js"

const tokens = (text: string): ReadonlyArray<Token> => CommandLine.parse(text).tokens

/** The tokens as `tag:text`, without blanks. */
const shape = (text: string): ReadonlyArray<string> =>
  tokens(text)
    .filter((token) => token._tag !== "Blank")
    .map((token) => `${token._tag}:${text.slice(token.start, token.end)}`)

/** Pieces of which shell text is made, so that quotes, brackets and operators meet often. */
const fragment = FastCheck.oneof(
  { weight: 3, arbitrary: FastCheck.constantFrom("'", '"', "$(", "${", ")", "}", "`", "\\", "\n", "<<EOF\n", "EOF\n") },
  {
    weight: 3,
    arbitrary: FastCheck.constantFrom(
      " ",
      "&&",
      "|",
      ";",
      "<(",
      ">",
      "2>&1",
      "$((",
      "))",
      "case x in",
      "esac",
      "a=(",
      "#"
    )
  },
  { weight: 1, arbitrary: FastCheck.fullUnicodeString({ maxLength: 6 }) },
  { weight: 2, arbitrary: FastCheck.constantFrom("echo", "a", "$x", "$'\\x41", "~", "*", "{a,b}", "é", "🙂") }
)
const shellText = FastCheck.array(fragment, { maxLength: 30 }).map((parts) => parts.join(""))

describe("Scanner", () => {
  it("reads any text, and its tokens are the whole of it", () => {
    FastCheck.assert(
      FastCheck.property(shellText, (text) => {
        let end = 0
        for (const token of tokens(text)) {
          assert.strictEqual(token.start, end)
          assert.isAbove(token.end, token.start)
          end = token.end
        }
        assert.strictEqual(end, text.length)
      }),
      { numRuns: 3000 }
    )
  })

  it("reads a deep nest of brackets without an end", () => {
    for (const open of ["$(", "${", "`", "$((", "<(", "((", '"$(', '"${x:-']) {
      assert.doesNotThrow(() => tokens(open.repeat(20_000)))
    }
  })

  it("takes the quotes off a word as bash does", () => {
    const plain = FastCheck.string({
      unit: FastCheck.constantFrom(..."abcXYZ019_-./:,@%+=é🙂^"),
      minLength: 1,
      maxLength: 5
    })
    const character = FastCheck.string({
      unit: FastCheck.constantFrom(...'ab $`"\\;&|<>(){}[]*?#~!\t\né🙂'),
      maxLength: 8
    })
    const escape = FastCheck.constantFrom(
      "\\n",
      "\\t",
      "\\\\",
      "\\'",
      '\\"',
      "\\e",
      "\\x41",
      "\\101",
      "\\400",
      "\\u00e9",
      "\\U0001F642",
      "\\xc3\\xa9",
      "\\cA",
      "\\z",
      "a",
      " "
    )
    const part = FastCheck.oneof(
      plain,
      character.map((text) => `'${text}'`),
      character.map((text) => `"${text.replace(/["\\$`]/g, "\\$&")}"`),
      FastCheck.constantFrom(..." ;&|<>()'\"$*?[]{}~#!").map((each) => `\\${each}`),
      FastCheck.array(escape, { maxLength: 5 }).map((escapes) => `$'${escapes.join("")}'`),
      FastCheck.constant("a\\\nb"),
      FastCheck.constantFrom('"a\\zb"', '"a\\\nb"', '"$"', "a$.", '$"dollar"', "a#b", "''", '""')
    )
    const word = FastCheck.array(part, { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(""))
      // At its start, these are a comment and nothing at all.
      .filter((text) => !text.startsWith("#") && text !== "\\\n")
    const words = FastCheck.sample(word, { numRuns: 1500, seed: 1 })

    const output = execFileSync("bash", ["--norc", "-c", `set +o histexpand -f\nprintf '%s\\0' ${words.join(" ")}`], {
      env: { ...process.env, LC_ALL: "C.UTF-8" }
    }).toString("utf8")
    const ours = CommandLine.parse(`printf ${words.join(" ")}`).words.map(({ value }) => value)
    assert.deepStrictEqual(ours, output.split("\0").slice(0, -1))
  })

  it("knows comments, operators and redirections", () => {
    assert.deepStrictEqual(shape("a #b;c\nd 2>&1 >|x &>y <>z;e|&f&&g||h&"), [
      "Word:a",
      "Comment:#b;c",
      "Newline:\n",
      "Word:d",
      "Operator:2>&",
      "Word:1",
      "Operator:>|",
      "Word:x",
      "Operator:&>",
      "Word:y",
      "Operator:<>",
      "Word:z",
      "Operator:;",
      "Word:e",
      "Operator:|&",
      "Word:f",
      "Operator:&&",
      "Word:g",
      "Operator:||",
      "Word:h",
      "Operator:&"
    ])
  })

  it("keeps what is within brackets in one word", () => {
    const words = [
      "$(a; b 'c)' # d)\n)",
      "$(case x in a) b;; (c) d;; esac)",
      "$((1 + (2)))",
      "$((a); b)",
      "${x:-$(y)}",
      '"${x:-"a}b"}"',
      "<(a | b)",
      ">(c)",
      "`a \\` b`",
      '"$(echo "a b")"',
      "x=(a b)",
      "$(cat <<E\n)\nE\n)"
    ]
    for (const word of words) {
      assert.deepStrictEqual(shape(`p ${word} q`), ["Word:p", `Word:${word}`, "Word:q"])
      assert.isTrue(CommandLine.parse(`p ${word}`).words[0]?.expands)
    }
  })

  it("tells what bash would expand from what it would not", () => {
    const expanding = ["$x", "${x}", "`x`", "*.ts", "a?", "[ab]", "{a,b}", "{1..3}", "~/x", "a=~", "$(x)", '"$x"']
    const plain = ["'$x'", "\\$x", "a$", "[", "{}", "{a}", "a~", '"*"', "'~'", "x]", "a.b"]
    assert.deepStrictEqual(
      [...expanding, ...plain].filter((word) => CommandLine.parse(`p ${word}`).words[0]?.expands),
      expanding
    )
  })

  it("reads here-documents to their last line", () => {
    const text = "cat <<A <<-'B' | wc\n'x\\\nA\nA\n\ty $z\n\tB\necho"
    assert.deepStrictEqual(
      tokens(text).filter((token) => token._tag === "HereDocument"),
      [
        { _tag: "HereDocument", start: 20, end: 28, body: "'xA\n", quoted: false, expands: false, closed: true },
        { _tag: "HereDocument", start: 28, end: 37, body: "y $z\n", quoted: true, expands: false, closed: true }
      ]
    )
    assert.deepStrictEqual(shape(text).at(-1), "Word:echo")
  })

  it("says of a word that its quote is open", () => {
    for (const text of ["'a", '"a', "$(a", "${a", "`a", "$'a\\'", '"$(a"']) {
      assert.isFalse(CommandLine.parse(`p ${text}`).words[0]?.closed, text)
    }
  })
})
