import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as CommandStatus from "../../src/bash/CommandStatus.js"

const last = (text: string, statuses: ReadonlyArray<number>, exitCode = 0) =>
  CommandStatus.lastPipeline(CommandLine.parse(text).tree, statuses, exitCode)?.map(({ program }) => program)

describe("the pipeline that ran last", () => {
  const texts: ReadonlyArray<readonly [text: string, parts: Array<string | undefined> | undefined]> = [
    ["pytest -q | tail -3", ["pytest", "tail"]],
    ["cd x && X=1 make all 2>&1 | tee log", ["make", "tee"]],
    ["a | b; (c; d) | e", [undefined, "e"]],
    ["for i in 1 2; do a | b; done | sort", [undefined, "sort"]],
    ["a |\n  b\n\n# a comment", ["a", "b"]],
    ["cd x || exit 1; a | b", ["a", "b"]],
    ["a | b || true", ["a", "b"]],
    ["{ a | b; }", ["a", "b"]],
    ["for i in 1 2; do a | b; done", ["a", "b"]],
    ["if true; then a | b; fi", ["a", "b"]],
    ["while a | b; do c; done", ["a", "b"]],
    ["case x in x) a | b;; esac", ["a", "b"]],
    ["f() { return 2; }; f | b", ["f", "b"]],
    ["f() {\n  x | y\n}\nf | b", ["f", "b"]],
    ["a | b; exit", ["a", "b"]],
    ["! a | b", ["a", "b"]],
    ["a | { b | c; }", ["a", undefined]],
    ["a | b && c | d", ["c", "d"]],
    ["a | b; for i in; do :; done", ["a", "b"]],
    // Which of them ran last is not known.
    ["a | b || c | d", undefined],
    ["if x; then a | b; else c | d; fi", undefined],
    ["a | b && return; c | d", undefined],
    ["a | b && exit; c | d", undefined],
    ["f() { x | y; exit; }; a | b; f", undefined],
    ["a | b; for i in; do c | d; done", undefined],
    // They run in another shell, or not at all.
    ["(a | b)", undefined],
    ["bash -c 'a | b'", undefined],
    ["a | b; c", undefined],
    ["a | b && c", undefined],
    ["a | b &", undefined],
    ["a | b | c", undefined],
    ["echo 'a | b'", undefined],
    ["[[ a | b ]]", undefined],
    ["function f { a | b; }; f", undefined],
    ["a | (b", undefined],
    ["a | b; }", undefined],
    ["", undefined]
  ]
  for (const [text, parts] of texts) {
    it(JSON.stringify(text), () => {
      assert.deepStrictEqual(last(text, [1, 0]), parts)
    })
  }

  it("may be any of a list that failed", () => {
    assert.isUndefined(last("a | b && c | d", [1, 2], 2))
    assert.deepStrictEqual(last("a | b && c | d | e", [1, 2], 2), ["a", "b"])
  })

  it("names what runs its programs", () => {
    assert.deepStrictEqual(
      CommandStatus.lastPipeline(CommandLine.parse("A=1 timeout 5 nice make | b").tree, [1, 0], 0),
      [
        { program: "make", wrappers: ["timeout", "5", "nice"] },
        { program: "b", wrappers: [] }
      ]
    )
  })
})
