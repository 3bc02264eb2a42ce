import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as Syntax from "../support/Syntax.js"

const pieces =
  "if then else fi for while do done case in esac { } ( ) f() [[ ]] ; ;; | && ! a b x=1 > '#' \n \n ; a".split(" ")
/** Beginnings of whole commands, so that bash comes to the end of some. */
const anyText = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom(...pieces),
    FastCheck.constantFrom(
      "if a; then",
      "for i in a b; do",
      "while a; do",
      "case a in",
      "b) a ;;",
      "a; fi",
      "a; done",
      "esac",
      "f() {",
      "a; }",
      "( a",
      "a )",
      "a\n"
    )
  ),
  { maxLength: 9 }
).map((words) => words.join(" "))

describe("the open commands, beside bash", () => {
  it("finds nothing in what bash takes, and something in what it finds no end of", () => {
    const texts = FastCheck.sample(anyText, 1000)
    let both = 0
    for (const [at, [status, stderr]] of Syntax.answers(texts).entries()) {
      const text = texts[at] ?? ""
      const { isAtRest, open } = CommandLine.parse(text).tree
      if (!isAtRest) continue
      if (status === 0) assert.deepStrictEqual(open, [], JSON.stringify(text))
      if (open.length > 0 && /unexpected end of file/.test(stderr)) both++
    }
    assert.isAbove(both, 20)
  })
})
