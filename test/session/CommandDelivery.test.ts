import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import { rewriteToYield } from "../../src/session/internal/CommandDelivery.js"

const rewrite = (text: string) => rewriteToYield(CommandLine.parse(text), { yields: "/f", notFound: "/n" }, "7")
const yields = (text: string) => rewrite(text) !== undefined

describe("rewrite", () => {
  it("has the last program or pipeline of a line run beside the shell", () => {
    for (const text of [
      "npm run dev",
      "cd app && npm run dev",
      "A=1 make -j8 >log 2>&1",
      "a; b\nnode x.js\n",
      "a || b c # d",
      "a | b",
      "cd app && npm test 2>&1 | tail -5",
      "echo a |& while read -r b; do c; done"
    ])
      assert.isTrue(yields(text), text)
    assert.match(
      rewrite("cd app && npm run dev # x") ?? "",
      /^cd app && \{ if \\builtin declare -F -- 'npm' >\/dev\/null;then npm run dev\nelse npm run dev &\n[\s\S]*;fi;\} # x$/
    )
  })

  it("leaves all else as it is: what may change the shell, and what the tree is not sure of", () => {
    for (const text of [
      "",
      "cd x",
      "x=1",
      "a &",
      "! a",
      "! a | b",
      "time a",
      "time a | b",
      "(a) | b",
      "a | $b",
      "a $_",
      "a | b $?",
      "f() { a; }",
      "if a; then b; fi",
      "{ a; }",
      "(a)",
      "a <<E\nE",
      "a 'b",
      "a &&",
      "$a b",
      ">f a",
      "exec a",
      "a b; }",
      "x".repeat(20_000)
    ])
      assert.isFalse(yields(text), text)
  })
})
