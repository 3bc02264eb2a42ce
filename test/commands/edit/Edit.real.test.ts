import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type App, shareApp, utf8, word } from "../../support/toolset/App.js"

/** Edits a file of that content, and looks at the answer and at what is in the file then, byte for byte. */
const edits = (
  { bytes, put, run }: App,
  args: readonly [old: string, replacement: string, all?: "--all"],
  content: string,
  after: string,
  stdout: string,
  file = "f"
) =>
  Effect.gen(function* () {
    put(file, content)
    const [old, replacement, all = ""] = args
    const command = `edit ${word(file)} ${word(old)} ${word(replacement)} ${all}`
    const { stdout: whole = "", ...rest } = yield* run(command)
    const said = whole.replace(/^[-+ ].*\n/gm, "")
    assert.deepStrictEqual({ ...rest, stdout: said }, { exitCode: 0, stdout, stderr: "" }, command)
    assert.strictEqual(bytes(file), utf8(after), command)
  })

shareApp("edit in the shell", (test) => {
  test("S40: replaces the literal text everywhere with --all", (app) =>
    Effect.gen(function* () {
      const both = "Replaced 2 occurrences in f (line 1)\n"
      yield* edits(app, ["a.b", "X", "--all"], "a.b acb a.b\n", "X acb X\n", both)
      yield* edits(app, ["a.b", "$&", "--all"], "a.b acb a.b", "$& acb $&", both)
      yield* edits(
        app,
        ["a.b", "$$ $1 $` $' \\1 \\n &", "--all"],
        "a.b\na.b\n",
        "$$ $1 $` $' \\1 \\n &\n".repeat(2),
        both.replace("line 1", "lines 1, 2")
      )
      const special = "^.*+?$ {1,2}|(x)[y]\\d/"
      yield* edits(
        app,
        [special, "é🙂", "--all"],
        `${special}\n${special}`,
        "é🙂\né🙂",
        both.replace("line 1", "lines 1, 2")
      )
      yield* edits(app, ["é", "ü", "--all"], "é e é", "ü e ü", both)
      yield* edits(app, ["aa", "a", "--all"], "aaaa", "aa", both)
      yield* edits(
        app,
        ["b\r\n", "x\r\n", "--all"],
        "a\r\nb\r\nb\r\nb\n",
        "a\r\nx\r\nx\r\nb\n",
        both.replace("line 1", "lines 2, 3")
      )
      yield* edits(app, ["b\nc", "", "--all"], "ab\ncab\nc", "aa", both.replace("line 1", "lines 1, 2"))
      yield* edits(app, ["x", "y", "--all"], "x", "y", "Replaced 1 occurrence in f (line 1)\n")
    }))

  test("S51: replaces the first match only", (app) =>
    Effect.gen(function* () {
      const first = (more: string, line: number, file = "f") =>
        `${more}; --all replaces every one\nReplaced 1 occurrence in ${file} (line ${line})\n`
      yield* edits(app, ["a.b", "$&"], "acb a.b a.b\n", "acb $& a.b\n", first("1 more match: line 1", 1))
      yield* edits(app, ["b", "x"], "a\r\nb\r\nb", "a\r\nx\r\nb", first("1 more match: line 3", 2))
      yield* edits(app, ["🙂", "é"], "\n\n🙂🙂🙂", "\n\né🙂🙂", first("2 more matches: line 3", 3))
      yield* edits(app, ["b\n", ""], "a\nb\nb\n", "a\nb\n", first("1 more match: line 3", 2))
      yield* edits(
        app,
        ["[1]", "(1)"],
        "1 [1] [1]",
        "1 (1) [1]",
        first("1 more match: line 1", 1, "größe [1].txt"),
        "größe [1].txt"
      )
      const many = Array.from({ length: 5000 }, (_, index) => `line ${index}\r\n`).join("")
      yield* edits(
        app,
        ["line 4999\r\n", "end"],
        many,
        many.replace("line 4999\r\n", () => "end"),
        "Replaced 1 occurrence in it's (line 5000)\n",
        "it's"
      )
    }))

  test("S52: says that the old text is absent, and leaves the file as it is", ({ bytes, cwd, handle, put }) =>
    Effect.gen(function* () {
      for (const [content, old, all = ""] of [
        ["acb\n", "a.b"],
        ["acb\n", "a.b", "--all"],
        ["a\nb\n", "a\r\nb"],
        ["a\nb", "b\n"],
        ["", "a"],
        ["xyz", "$&"],
        ["xyz", ".*"],
        ["Name", "name"]
      ] as const) {
        put("a b.txt", content)
        const before = Fs.statSync(`${cwd}/a b.txt`, { bigint: true })
        const command = `edit 'a b.txt' ${word(old)} new ${all}`
        const { extras, isError } = yield* handle({ command })
        const { exitCode, failureCategory, stderr = "", stdout } = extras
        assert.deepStrictEqual([isError, exitCode, stdout, failureCategory], [true, 1, "", "execution_error"], command)
        assert.match(
          stderr,
          /^edit: a b\.txt: the old text was not found(, nor a line like it)?; the file is unchanged\n/,
          command
        )
        assert.strictEqual(bytes("a b.txt"), utf8(content), command)
        const { ino, mtimeNs } = Fs.statSync(`${cwd}/a b.txt`, { bigint: true })
        assert.deepStrictEqual([ino, mtimeNs], [before.ino, before.mtimeNs], command)
      }
    }))

  test("S52: makes no file where there is none", ({ cwd, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("edit 'no such' a b"), {
        exitCode: 1,
        stdout: "",
        stderr: `edit: no such: No such file or directory\nBash(command="ls .") shows what there is.\n`
      })
      assert.deepStrictEqual(Fs.readdirSync(cwd), [])
    }))
})
