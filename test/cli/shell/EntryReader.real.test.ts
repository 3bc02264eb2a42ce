/** Against bash, which tells whether a text ended too early. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as EntryReader from "../../../src/cli/shell/EntryReader.js"
import * as Syntax from "../../support/Syntax.js"

const early = /unexpected end of file|unexpected EOF|delimited by end-of-file/

/** Asks bash: "open", "whole", or "wrong" for what no further line would mend. */
const askBash = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  Syntax.answers(texts).map(([status, said]) => (early.test(said) ? "open" : status === 0 ? "whole" : "wrong"))

const open = [
  "echo 'a",
  'echo "a\nb',
  "echo `date",
  "echo $(date",
  "echo ${a:-x",
  "cat <<EOF",
  "cat <<EOF\na\n",
  "cat <<-'A' <<B\n\tA\nb",
  "ls |",
  "ls &&  # and",
  "ls ||\n\n",
  "if true",
  "if true; then",
  "if a; then b; else\n",
  "for x",
  "for x in 1 2; do echo",
  "for ((i = 0; i < 3; i++)); do",
  "for ((i = 1 << 2; i < (3); i++))",
  "while read -r l; do case $l in",
  "case x",
  "case x in a) echo;;",
  "f()",
  "f() {",
  "function f",
  "{ a; (b;",
  "if ((1 << 2)); then"
]

const whole = [
  "",
  "  # a comment \\",
  "echo a\\\\",
  "echo 'a\\'",
  "a=() b=(1 2)",
  'echo $((1 << 2)) "$(cat <<EOF\na\nEOF\n)"',
  "cat <<EOF\nif\nEOF",
  "((i++)); ls",
  "f() { ls; }",
  "for x in 1; do echo; done",
  "case x in a) b;; esac",
  "[[ a < b ]] && echo",
  "echo for x"
]

/** No further line would mend these. */
const wrong = ["echo >", "echo <$name>", "cat <<", "ls 2>&", "if >"]

const piece = FastCheck.constantFrom(
  ..."if then fi for while do done case esac in x { } ( ) ; & | && || ! echo a 'b' \"c\" ' \" $(d) $( `e` # <<E E > \\ f()".split(
    " "
  ),
  "\n",
  "\nE\n"
)

describe("EntryReader.isOpen", () => {
  it("is true for what bash would go on to read, and only for that", () => {
    assert.deepStrictEqual(
      open.filter((text) => !EntryReader.isOpen(text)),
      []
    )
    assert.deepStrictEqual([...whole, ...wrong].filter(EntryReader.isOpen), [])
  })

  it("is true for a backslash at the end, which bash -n does not tell of", () => {
    assert.isTrue(EntryReader.isOpen("echo a \\"))
    assert.isTrue(EntryReader.isOpen("\\"))
    assert.isFalse(EntryReader.isOpen("echo a \\\\"))
  })

  it("agrees with bash about these", () => {
    assert.deepStrictEqual(askBash(open), Array(open.length).fill("open"))
    assert.deepStrictEqual(askBash(whole), Array(whole.length).fill("whole"))
    assert.deepStrictEqual(askBash(wrong), Array(wrong.length).fill("wrong"))
  })

  it("never asks for more where bash has a whole text, whatever its words", () => {
    const texts = FastCheck.sample(FastCheck.array(piece, { maxLength: 9 }), { numRuns: 600, seed: 7 }).map((words) =>
      words.join(" ")
    )
    const answers = askBash(texts)
    const asked = texts.filter(
      (text, at) => answers[at] === "whole" && !text.endsWith("\\") && EntryReader.isOpen(text)
    )
    assert.deepStrictEqual(asked, [])
    const missed = texts.filter((text, at) => answers[at] === "open" && !EntryReader.isOpen(text))
    assert.deepStrictEqual(missed, [])
  })

  it("leaves a very long text to bash, whatever is in it", () => {
    assert.isFalse(EntryReader.isOpen(`echo '${"a".repeat(1_000_000)}`))
    assert.isFalse(EntryReader.isOpen("a ".repeat(30_000)))
  })
})
