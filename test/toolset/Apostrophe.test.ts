import { assert, describe, it } from "@effect/vitest"
import * as Diagnosis from "../../src/toolset/internal/Diagnosis.js"

describe("the apostrophe that bash took for a quote", () => {
  it("is found where its correction makes the text complete", () => {
    assert.deepStrictEqual(Diagnosis.find("echo 'it's'"), { written: "it's", correct: "it'\\''s", ends: true })
    assert.deepStrictEqual(Diagnosis.find("touch don't"), { written: "don't", correct: "don\\'t", ends: false })
    assert.deepStrictEqual(Diagnosis.find("ls\ngit commit -m 'we can't\nsay $&'\n"), {
      written: "can't",
      correct: "can'\\''t",
      ends: true
    })
  })

  it("is unknown where the text is complete, or more than one thing is wrong with it", () => {
    for (const text of ["echo it", 'echo "it\'s"', "echo 'a", "echo 'it's don't'", "echo \"it's", "cat <<E\nit's\nE"]) {
      assert.isUndefined(Diagnosis.find(text), text)
    }
  })

  it("is looked for in long texts, too", () => {
    assert.isUndefined(Diagnosis.find(`'${"a".repeat(1_000_000)}`))
  })
})
