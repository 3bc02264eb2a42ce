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

const example = (...args: ReadonlyArray<string>) =>
  Effect.map(failed(Edit.make, args, ground()), ({ message }) => message.split("\n").slice(2, -1).join("\n"))

describe("a wrong call of edit", () => {
  it.effect("with several files is answered with a loop over them", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* example("a", "b c", "one", "it's"),
        `  for f in a 'b c'; do edit "$f" 'one' 'it'\\''s'; done`
      )
      assert.strictEqual(
        yield* example("--all", "a", "b c", "one", "1"),
        `  for f in a 'b c'; do edit --all "$f" 'one' '1'; done`
      )
    })
  )

  it.effect("with words that are no files is told to quote them", () =>
    Effect.gen(function* () {
      const { message } = yield* failed(Edit.make, ["a", "on", "e", "1"], ground())
      assert.match(message, /^edit: 4 words are too many: a text with blanks stands in quotes\.\n/)
      assert.notInclude(message, "for f in")
    })
  )

  it.effect("with a script of sed is answered with sed", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* example("-i", "s/a/b/g", "a", "b c"),
        "  sed -i s/a/b/g a 'b c'".replace("s/a/b/g", "'s/a/b/g'")
      )
      assert.notInclude(yield* example("-i", "x", "a"), "sed")
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
