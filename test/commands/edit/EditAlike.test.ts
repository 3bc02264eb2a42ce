/** Characters that look alike, in `edit` and `edit --patch`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { run } from "../../support/commands/FileCall.js"

const edited = (content: string, old: string, next: string) =>
  Effect.gen(function* () {
    const files = MemoryFiles.make({ f: content })
    const { stderr, stdout } = yield* run(Edit.make, ["f", old, next], { files })
    return { said: `${stdout}${stderr}`, content: files.get("f")?.toString() }
  })

const patched = (content: string, ...lines: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const files = MemoryFiles.make({ f: content })
    const text = ["*** Begin Patch", "*** Update File: f", "@@", ...lines, "*** End Patch", ""].join("\n")
    yield* run(Edit.make, ["--patch"], { files, stdin: [Buffer.from(text)] })
    return files.get("f")?.toString()
  })

describe("edit of what looks like the old text", () => {
  for (const [name, content, old, next, after, named] of [
    ["a no-break space", "Price:\u00a010 EUR\n", "Price: 10 EUR", "Price: 12 EUR", "Price:\u00a012 EUR\n", "U+00A0"],
    [
      "curly quotes",
      "say \u201chi\u201d, it\u2019s\n",
      `say "hi", it's`,
      `say "ho", it's`,
      "say \u201cho\u201d, it\u2019s\n",
      "U+201C"
    ],
    [
      "one quote of a pair",
      "said \u201cgoodbye\u201d to\n",
      'said "goodbye" to',
      'said "bye"',
      'said "bye"\n',
      "U+201C"
    ],
    ["a dash", "1\u20132 of 3\n", "1-2 of 3", "1-2 of 4", "1\u20132 of 4\n", "U+2013"],
    ["a zero-width space", "a\u200bb = 1\n", "ab = 1", "ab = 2", "a\u200bb = 2\n", "U+200B"],
    ["decomposed letters", "cafe\u0301 = 1\n", "caf\u00e9 = 1", "caf\u00e9 = 2", "cafe\u0301 = 2\n", "U+0065+U+0301"],
    ["composed letters", "caf\u00e9 = 1\n", "cafe\u0301 = 1", "cafe\u0301 = 2", "caf\u00e9 = 2\n", "U+0065+U+0301"],
    ["an ellipsis", "wait\u2026 = 1\n", "wait... = 1", "wait... = 2", "wait\u2026 = 2\n", "U+2026"],
    ["a curly quote in the old text", 'say "hi"\n', "say \u201chi\u201d", "say \u201cho\u201d", 'say "ho"\n', "U+201C"],
    ["CRLF between them", "a\u00a01\r\nb\r\n", "a 1\nb", "a 2\nc\nd", "a\u00a02\r\nc\r\nd\r\n", "U+00A0"],
    ["what goes", "x\u00a0y z\n", "x y ", "", "z\n", "U+00A0"]
  ] as const)
    it.effect(`applies it, and keeps the file's own characters: ${name}`, () =>
      Effect.gen(function* () {
        const outcome = yield* edited(content, old, next)
        assert.strictEqual(outcome.content, after)
        assert.include(outcome.said, "Replaced 1 occurrence in f (line 1), alike but for ")
        assert.include(outcome.said, named)
      })
    )

  it.effect("leaves the file where several parts look like it, and names the characters", () =>
    Effect.gen(function* () {
      const content = "a\u00a0b\na\u00a0b\n"
      const outcome = yield* edited(content, "a b", "c")
      assert.deepStrictEqual(outcome, {
        said: "edit: f: the old text was not found; the file is unchanged\n2 parts of it look like the old text, but for U+00A0; more of the text tells which\n",
        content
      })
    })
  )

  it.effect("takes the exact text where both are there, and no part of bytes that are no text", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* edited("a\u00a0b\na b\n", "a b", "c")).content, "a\u00a0b\nc\n")
      const files = MemoryFiles.make({ f: Buffer.from("\xff a\xc2\xa0b\n", "latin1") })
      yield* run(Edit.make, ["f", "a b", "c"], { files })
      assert.strictEqual(files.get("f")?.toString("latin1"), "\xff a\xc2\xa0b\n")
    })
  )

  it.effect("fits a patch in the same way", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* patched("\ufeffconst v = 1;\nlet x = 2;\n", "-const v = 1;", "+const v = 6;"),
        "\ufeffconst v = 6;\nlet x = 2;\n"
      )
      assert.strictEqual(
        yield* patched("it\u2019s a\nb\u00a0c d\nend\n", " it's a", "-b c d", "+b c e", "+new", " end"),
        "it\u2019s a\nb\u00a0c e\nnew\nend\n"
      )
    })
  )
})

describe("edit of what was done before", () => {
  it.effect("says where the new text is", () =>
    Effect.gen(function* () {
      const { said } = yield* edited("a\nport = 3000\n", "port = 80", "port = 3000")
      assert.strictEqual(
        said,
        "edit: f: the old text was not found; the file is unchanged\nThe new text is there already, at line 2.\n"
      )
    })
  )

  it.effect("says nothing of a new text that is there by chance, or in many places", () =>
    Effect.gen(function* () {
      assert.notInclude((yield* edited("a\n}\n", "x = 1", "}")).said, "already")
      assert.notInclude((yield* edited("port\nport\n", "x = 1", "port")).said, "already")
    })
  )

  it.effect("shows the line with the rarest word, not one that begins alike", () =>
    Effect.gen(function* () {
      const content = `a\n    sprintf(version, "%i", CJSON_VERSION_MAJOR, 1);\n    return cJSON_ParseWithLengthOpts(value, n);\n`
      const { said } = yield* edited(content, "return CJSON_VERSION_MAJOR", "x")
      assert.include(said, "The nearest lines:\n     2\t    sprintf(version")
      assert.notInclude(said, "From line 3 on")
    })
  )
})

describe("edit of a file in another encoding", () => {
  const bytesOf = (content: string, args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: Buffer.from(content, "latin1") })
      const outcome = yield* Effect.either(run(Edit.make, ["f", ...args], { files }))
      const said = outcome._tag === "Left" ? outcome.left.message : `${outcome.right.stdout}${outcome.right.stderr}`
      return [said, files.get("f")?.toString("latin1")] as const
    })

  it.effect("keeps the encoding that is named, or that the file declares", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* bytesOf("caf\xe9 = 1\n", ["café = 1", "thé = 2", "--encoding", "latin1"]), [
        "Replaced 1 occurrence in f (WINDOWS-1252) (line 1)\n-café = 1\n+thé = 2\n",
        "th\xe9 = 2\n"
      ])
      assert.strictEqual((yield* bytesOf("# coding: gbk\nx\n", ["x", "你"]))[1], "# coding: gbk\n\xc4\xe3\n")
      assert.strictEqual((yield* bytesOf("a\rb\rc\r", ["a\nb", "x\ny"]))[1], "x\ry\rc\r")
    })
  )

  it.effect("refuses what the encoding has not, and to bring a second one into the file", () =>
    Effect.gen(function* () {
      const latin = "caf\xe9 = 1\nx = 2\n"
      for (const [args, said] of [
        [["x = 2", "x = 你", "--encoding", "latin1"], "WINDOWS-1252 has no 你, unchanged"],
        [["x = 2", "x = é"], "It is not UTF-8: name its encoding, as --encoding latin1"],
        [["café = 1", "tea"], "It is not UTF-8: name its encoding, as --encoding latin1"],
        [["x = 2", "y", "--encoding", "gbk"], "it is not all GBK, unchanged"]
      ] as const) {
        const [text, content] = yield* bytesOf(latin, args)
        assert.include(text, said)
        assert.strictEqual(content, latin)
      }
      // Some bytes of GBK are letters in UTF-8 by chance.
      assert.include((yield* bytesOf("\xd7\xa2\xca\xcd\xce\xc4\xbc\xfe\n80\n", ["80", "端"]))[0], "It is not UTF-8")
      assert.strictEqual((yield* bytesOf("\x80 1\n", ["€ 1", "€ 2", "--encoding", "cp1252"]))[1], "\x80 2\n")
      // ASCII is the same in both.
      assert.strictEqual((yield* bytesOf(latin, ["x = 2", "y"]))[1], "caf\xe9 = 1\ny\n")
    })
  )
})
