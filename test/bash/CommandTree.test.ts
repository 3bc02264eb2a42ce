import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as CommandTree from "../../src/bash/CommandTree.js"

const open = (text: string): string | undefined => {
  const { isAtRest, open } = CommandLine.parse(text).tree
  return isAtRest ? open.join(", ") : undefined
}

describe("the open commands", () => {
  it("finds what is open", () => {
    const cases: Readonly<Record<string, string>> = {
      "if true; then echo x": "if",
      "if true": "if",
      "\nfor i in 1 2; do\n  if a; then b; fi\n": "for",
      "for i do\nwhile read l; do echo for if": "for, while",
      "case x in": "case",
      "case x in a|b) echo 1 ;; (c) if x; then": "case, if",
      "case x in a) echo 1;;\n": "case",
      "foo() { echo x;": "{",
      "function foo {\n": "{",
      "(cd x; ls": "(",
      "{ { a; }": "{",
      "if [[ a && ( b < c ) ]]; then (x) ; cat <<EOF\nif\nEOF\n": "if",
      "for i in 1 2; do echo $i done": "for",
      "if ((a << b)); then": "if",
      "for ((i = 0; i < 3; i++)); do": "for",
      "until a | while b; do c; done; do d # done\n": "until"
    }
    for (const [text, found] of Object.entries(cases)) assert.strictEqual(open(text), found, text)
  })

  it("finds nothing in what is closed", () => {
    for (const text of [
      "",
      "if a; then b; elif c; then d; else e; fi > f 2>&1 && g",
      "case $x in (a) b;; c) d;& *) esac",
      "f() { if a; then (b); fi; }; f | { cat; }",
      "for x in if while; do echo if; done; select y in a; do b; done < c",
      "echo if for { while",
      "> f if",
      "! time { a; }"
    ]) {
      assert.strictEqual(open(text), "", text)
    }
  })

  it("is not sure of words that are not closed, and of what bash would have refused", () => {
    for (const text of [
      "if a; then echo 'x",
      "if a; then b; done",
      "while cat <<EOF\nx",
      "coproc x { a",
      "for",
      "if [[ a",
      "echo (a"
    ]) {
      assert.strictEqual(open(text), undefined, text)
    }
  })

  it("keeps the assignments before a command's name apart from its words", () => {
    const [first, ...others] = CommandTree.commandsIn(CommandLine.parse("A=1 b[2]+='x y' \\c=1 make CC=gcc").tree.lists)
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual(
      first?.assignments.map(({ value }) => value),
      ["A=1", "b[2]+=x y"]
    )
    assert.deepStrictEqual(
      first?.words.map(({ value }) => value),
      ["c=1", "make", "CC=gcc"]
    )
  })
})
