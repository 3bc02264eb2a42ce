/** Wrong calls of `edit`: each is answered with the right one, made of the values that were given. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d", "hex"), Buffer.from("IHDR and more")])

const ground = () => ({
  files: MemoryFiles.make({
    a: "one\n",
    "b c": "one\n",
    "logo.png": png,
    data: Buffer.from(`x${"\0\x01\xff".repeat(40)}`, "latin1")
  })
})

describe("a wrong call of edit", () => {
  it.effect("with too many words is told to quote them", () =>
    Effect.gen(function* () {
      const { message } = yield* failed(Edit.make, ["a", "on", "e", "1"], ground())
      assert.match(message, /^edit: 4 words are too many: a text with blanks stands in quotes\.\n/)
    })
  )

  it.effect("on a file that is no text changes nothing, and says what it is", () =>
    Effect.gen(function* () {
      const { files } = ground()
      for (const [name, old, what] of [
        ["logo.png", "IHDR", "PNG image"],
        ["data", "x", "binary file"]
      ] as const) {
        const before = files.get(name)
        const { message } = yield* failed(Edit.make, [name, old, "JHDR"], { files })
        assert.strictEqual(message, `edit: ${name}: ${what}, unchanged: edit is for text`)
        assert.deepStrictEqual(files.get(name), before)
      }
      assert.strictEqual((yield* run(Edit.make, ["b c", "one", "1"], { files })).exitCode, 0)
    })
  )
})
