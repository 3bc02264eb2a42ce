import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as StatusSource from "../../src/bash/StatusSource.js"

describe("the parts of the pipeline that a text ends with", () => {
  for (const [text, parts] of [
    ["pytest -q | tail -3", ["pytest", "tail"]],
    ["cd x && X=1 make all 2>&1 | tee log | tail", ["make", "tee", "tail"]],
    ["a | b; (c; d) | e", [undefined, "e"]],
    ["for i in 1 2; do a | b; done | sort", [undefined, "sort"]],
    ["a |\n  b\n\n# a comment", ["a", "b"]],
    ["a | b; c", undefined],
    ["a | b && c", undefined],
    ["a | b &", ["a", "b"]],
    ["echo 'a | b'", undefined],
    ["case x in x) a | b;; esac", undefined],
    ["! a | b", undefined],
    ["a | (b", undefined],
    ["", undefined]
  ] as const) {
    it(JSON.stringify(text), () => {
      assert.deepStrictEqual(StatusSource.stages(CommandLine.parse(text).tokens), parts as typeof parts | undefined)
    })
  }
})
