import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Read from "../../../src/commands/read/Read.js"
import * as Encoding from "../../../src/files/Encoding.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { run } from "../../support/commands/FileCall.js"
import { type App, shareApp, word } from "../../support/toolset/App.js"

/** Lines as `cat -n` numbers them, from the one of that number. */
const numbered = (lines: ReadonlyArray<string>, from = 1): string =>
  lines.map((line, index) => `${String(from + index).padStart(6)}\t${line}\n`).join("")

const empty = { exitCode: 0, stdout: "", stderr: "" }

const said = (note: string) => ({ ...empty, stderr: `read: ${note}\n` })

const lines = Array.from({ length: 1003 }, (_, index) => `line ${index + 1} é🙂 $& \\n`)

/** Every window of a file of 1003 lines that begins or ends where something changes, in one call. */
const windows = (app: App, file: string, note = "") =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const all = { stdout: "", stderr: "" }
    for (const offset of [0, 1, 998, 999, 1000, 1001, 1002, 1003, 1004, 5000]) {
      for (const limit of [1, 3]) {
        const shown = lines.slice(offset, offset + limit)
        const last = offset + shown.length
        const more =
          last < lines.length
            ? `read: ${file}: line${limit === 1 ? "" : "s"} ${limit === 1 ? last : `${offset + 1}–${last}`} of 1003: read ${word(file)} --offset ${last} --limit ${limit}\n`
            : shown.length === 0
              ? `read: ${file}: only 1003 lines\n`
              : ""
        asked.push(`read ${word(file)} --offset ${offset} --limit ${limit}`)
        all.stdout += numbered(shown, offset + 1)
        all.stderr += (shown.length > 0 ? note : "") + more
      }
    }
    assert.deepStrictEqual(yield* app.run(asked.join("\n")), { exitCode: 0, ...all }, file)
  })

shareApp("read in the shell", (test) => {
  test("S50: shows lines 3 to 5 and nothing else, with their true numbers", ({ put, run }) =>
    Effect.gen(function* () {
      put("five", "a\nb\nc\nd\ne\n")
      put("six", "a\nb\nc\nd\ne\nf\n")
      const stdout = "     3\tc\n     4\td\n     5\te\n"
      assert.deepStrictEqual(yield* run("read five --offset 2 --limit 3"), { exitCode: 0, stdout, stderr: "" })
      assert.deepStrictEqual(yield* run("read --limit=3 --offset=2 ./six"), {
        exitCode: 0,
        stdout,
        stderr: "read: ./six: lines 3–5 of 6: read ./six --offset 5 --limit 3\n"
      })
    }))

  test("S50: shows the same windows before, at and behind line 1000, and at the end", (app) =>
    Effect.gen(function* () {
      const text = lines.join("\n")
      app.put("it's a file.txt", `${text}\n`)
      yield* windows(app, "it's a file.txt")
      app.put("no newline at the end", text)
      yield* windows(app, "no newline at the end")
    }))

  test("S50: shows the windows of a file of CRLF lines without the CR, and says so", (app) =>
    Effect.gen(function* () {
      app.put("größe [1].txt", `${lines.join("\r\n")}\r\n`)
      yield* windows(app, "größe [1].txt", "read: größe [1].txt: lines end in CRLF, shown without the CR\n")
    }))

  test("S50: shows the last line where nothing ends it, and an empty line where it has nothing", ({ put, run }) =>
    Effect.gen(function* () {
      for (const [content, shown] of [
        ["a", ["a"]],
        ["\n", [""]],
        ["\n\n", ["", ""]],
        ["a\n\nb", ["a", "", "b"]]
      ] as const) {
        put("f", content)
        assert.deepStrictEqual(yield* run("read f"), { ...empty, stdout: numbered(shown) }, JSON.stringify(content))
      }
    }))

  test("S39: shows nothing behind the end, however far that is, and of an empty file", ({ handle, put, run }) =>
    Effect.gen(function* () {
      put("f", "a\nb\n")
      put("long", `${lines.join("\n")}\n`)
      put("nothing", "")
      // The later ones are past what a number holds, and past what bash counts to.
      const far = ["2", "3", "1000", "9007199254740993", "18446744073709551616", "99999999999999999999", "9".repeat(40)]
      for (const offset of far)
        assert.deepStrictEqual(yield* run(`read f --offset ${offset}`), said("f: only 2 lines"), offset)
      for (const offset of ["1003", ...far.slice(3)]) {
        assert.deepStrictEqual(yield* run(`read long --offset ${offset}`), said("long: only 1003 lines"), offset)
      }
      for (const args of ["", "--offset 1", "--offset 1000", "--limit 5"]) {
        assert.deepStrictEqual(yield* run(`read nothing ${args}`), said("nothing: empty file"), args)
      }
      assert.deepStrictEqual(yield* run(`read f --limit ${"9".repeat(40)}`), { ...empty, stdout: numbered(["a", "b"]) })
      const { isError, output } = yield* handle({ command: "read f --offset 2" })
      assert.deepStrictEqual({ isError, output }, { isError: false, output: "read: f: only 2 lines\n" })
    }))

  test("S37: names the missing file, as it was written", ({ cwd, handle, run }) =>
    Effect.gen(function* () {
      const failed = { exitCode: 1, stdout: "" }
      const nowhere = `${cwd}/no such/file.txt`
      for (const [path, stderr] of [
        ["missing.txt", `read: missing.txt: No such file or directory\nBash(command="ls .") shows what there is.\n`],
        ["a b/ü.txt", `read: a b/ü.txt: No such file or directory\nBash(command="ls .") shows what there is.\n`],
        ["$& *", `read: $& *: No such file or directory\nBash(command="ls .") shows what there is.\n`],
        [nowhere, `read: ${nowhere}: No such file or directory\nBash(command="ls ${cwd}") shows what there is.\n`]
      ] as const) {
        assert.deepStrictEqual(yield* run(`read ${word(path)}`), { ...failed, stderr }, path)
      }
      const { extras, isError, output } = yield* handle({ command: "read 'a b'" })
      assert.deepStrictEqual([isError, extras.failureCategory], [true, "execution_error"])
      assert.match(output, /^read: a b: No such file or directory\n/)
    }))
})

/** What `read` makes of one file `f`, read in chunks of these sizes. */
const read = (content: Uint8Array, args: ReadonlyArray<string>, sizes: ReadonlyArray<number>) =>
  run(Read.make, ["f", ...args], { files: MemoryFiles.make({ f: content }, sizes) })

describe("read, against sed", () => {
  it.effect("shows the lines that sed shows", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(
            FastCheck.constantFrom(
              "a",
              "bc",
              "\n",
              "\n\n",
              "é",
              "🙂",
              " ",
              "\t",
              "\r\n",
              "\rz",
              "\xff",
              "x".repeat(90)
            ),
            {
              maxLength: 200
            }
          ),
          FastCheck.array(FastCheck.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
          FastCheck.integer({ min: 0, max: 60 }),
          FastCheck.integer({ min: 1, max: 60 }),
          async (parts, sizes, offset, limit) => {
            const content = Buffer.concat(parts.map((part) => Buffer.from(part, part === "\xff" ? "latin1" : "utf8")))
            FastCheck.pre(Encoding.detect(content) === undefined)
            const args = ["--offset", String(offset), "--limit", String(limit)]
            const { stdout } = await Effect.runPromise(read(content, args, sizes))
            const script = `${offset + 1},${offset + limit}p`
            const input = { input: content, env: { LC_ALL: "C" } }
            const expected = ChildProcess.execFileSync("sed", ["-n", script], input).toString()
            const lines = (expected.endsWith("\n") ? expected.slice(0, -1) : expected).split("\n")
            assert.strictEqual(
              stdout,
              lines
                .map((line, index) => `${String(offset + index + 1).padStart(6)}\t${line}\n`)
                .join("")
                .replaceAll("\r\n", "\n")
                .slice(0, expected === "" ? 0 : undefined)
            )
          }
        ),
        { numRuns: 80, examples: [[["\rz", "\r\n"], [2, 1], 0, 1]] }
      )
    )
  )
})
