import { isUtf8 } from "node:buffer"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Edit from "../../../src/commands/edit/Edit.js"
import * as Encoding from "../../../src/files/Encoding.js"
import type { ReadOptions } from "../../../src/files/Files.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

/** What `edit f …` says, and the file's bytes afterwards as Latin-1. */
const edited = (content: string | Uint8Array, args: ReadonlyArray<string>, sizes: ReadonlyArray<number> = [3, 1]) =>
  Effect.gen(function* () {
    const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content
    const files = MemoryFiles.make({ f: bytes }, sizes)
    const { exitCode, stderr, stdout } = yield* run(Edit.make, ["f", ...args], { files })
    return { exitCode, stderr, stdout, content: files.get("f")?.toString("latin1"), writes: files.writes() }
  })

const said = (stdout: string, content: string) => ({
  exitCode: 0,
  stderr: "",
  stdout: `${stdout}\n`,
  content,
  writes: 1
})

describe("edit", () => {
  it.effect("edits UTF-16 text as it is", () =>
    Effect.gen(function* () {
      const content = "\xff\xfeh\x00i\x00\n\x00"
      assert.deepStrictEqual(
        yield* edited(content, ["hi", "hé"]),
        said("Replaced 1 occurrence in f (UTF-16LE) (line 1)\n-hi\n+hé", "\xff\xfeh\x00\xe9\x00\n\x00")
      )
    })
  )

  it.effect("S51: replaces the first occurrence only, and says how many there are", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* edited("x\nfoo foo\nfoo\n", ["foo", "bar"]),
        said(
          "2 more matches: lines 2, 3; --all replaces every one\nReplaced 1 occurrence in f (line 2)\n x\n-foo foo\n+bar foo",
          "x\nbar foo\nfoo\n"
        )
      )
      assert.deepStrictEqual(
        yield* edited("a\nb\nc", ["c", ""]),
        said("Replaced 1 occurrence in f (line 3)\n b\n-c", "a\nb\n")
      )
      const many = yield* edited("x\n".repeat(30), ["x", "y"])
      assert.strictEqual(
        many.stdout,
        "29 more matches: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …; --all replaces every one\n" +
          "Replaced 1 occurrence in f (line 1)\n-x\n+y\n"
      )
    })
  )

  it.effect("S40: replaces the literal text everywhere with --all", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* edited("a.b acb a.b\na.b", ["a.b", "$& $1 \\n $$", "--all"]),
        said(
          "Replaced 3 occurrences in f (lines 1, 2)\n-a.b acb a.b\n+$& $1 \\n $$ acb $& $1 \\n $$",
          "$& $1 \\n $$ acb $& $1 \\n $$\n$& $1 \\n $$"
        )
      )
      assert.deepStrictEqual(
        yield* edited("aaaaa", ["aa", "a", "--all"]),
        said("Replaced 2 occurrences in f (line 1)\n-aaaaa\n+aaa", "aaa")
      )
      assert.deepStrictEqual(
        yield* edited("x y", ["--all", "y", "x"]),
        said("Replaced 1 occurrence in f (line 1)\n-x y\n+x x", "x x")
      )
    })
  )

  it.effect("S52: says that the old text is not there, and leaves the file", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* edited("one\r\ntwo", ["three hundred", "x"]), {
        exitCode: 1,
        stderr: "edit: f: the old text was not found, nor a line like it; the file is unchanged\n",
        stdout: "",
        content: "one\r\ntwo",
        writes: 0
      })
      assert.deepStrictEqual(yield* edited("acb", ["a.b", "x", "--all"]), {
        exitCode: 1,
        stderr: "edit: f: the old text was not found, nor a line like it; the file is unchanged\n",
        stdout: "",
        content: "acb",
        writes: 0
      })
    })
  )

  it.effect("keeps every byte outside of the match", () =>
    Effect.gen(function* () {
      const content = "\xef\xbb\xbf\0a\r\n\xe9 old \xff\r\n\0\r"
      assert.deepStrictEqual(
        yield* edited(content, ["old", "\u00fc"]),
        said(
          "Replaced 1 occurrence in f (line 2)\n \0a\n-\ufffd old \ufffd\n+\ufffd ü \ufffd",
          content.replace("old", "\xc3\xbc")
        )
      )
      assert.deepStrictEqual(
        yield* edited("a\r\nb\r\nc", ["a\r\nb", "z"]),
        said("Replaced 1 occurrence in f (line 1)\n-a\n-b\n+z", "z\r\nc")
      )
    })
  )

  it.effect("finds lines with LF in a file with CRLF, and keeps its line ends", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* edited("a\r\nb\r\nc\r\n", ["a\nb\n", "a\nx\ny\n"]),
        said("Replaced 1 occurrence in f (line 1)\n-b\n+x\n+y", "a\r\nx\r\ny\r\nc\r\n")
      )
      assert.deepStrictEqual(
        yield* edited("a\r\nb\r\na\r\nb", ["a\nb", "c\nd", "--all"]),
        said(
          "Replaced 2 occurrences in f (lines 1, 3)\n-a\n+c\n… 1 more line removed, 1 more line added",
          "c\r\nd\r\nc\r\nd"
        )
      )
      assert.deepStrictEqual(
        yield* edited("a\r\nb", ["b", "c\nd"]),
        said("Replaced 1 occurrence in f (line 2)\n-b\n+c\n+d", "a\r\nc\r\nd")
      )
      assert.deepStrictEqual(
        yield* edited("a\nb\r\na\r\n", ["a\n", "x\n"]),
        said("Replaced 1 occurrence in f (line 1)\n-a\n+x", "x\nb\r\na\r\n")
      )
    })
  )

  it.effect("shows a change in three lines at most, and a long line by its part that changes", () =>
    Effect.gen(function* () {
      const { stdout } = yield* edited("one\ntwo\nthree\nfour\n", ["two\nthree", "2\n3\n4\n5"])
      assert.strictEqual(
        stdout,
        "Replaced 1 occurrence in f (line 2)\n-two\n+2\n… 1 more line removed, 3 more lines added\n"
      )
      const long = `${"a".repeat(1000)}old${"b".repeat(1000)}`
      const shown = (yield* edited(long, ["old", "new"])).stdout.split("\n")
      assert.strictEqual(shown[1], `-…${"a".repeat(40)}old${"b".repeat(117)}…`)
      assert.strictEqual(shown[2], `+…${"a".repeat(40)}new${"b".repeat(117)}…`)
      assert.strictEqual(
        (yield* edited("{\n}\n", ["{\n", "{\n  a\n"])).stdout,
        "Replaced 1 occurrence in f (line 1)\n {\n+  a\n"
      )
    })
  )

  it.effect("takes bytes that are no UTF-8 for what they are", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* edited("caf\xe9 \xff\n", ["\udce9 \udcff", "\udc80é"]),
        said("Replaced 1 occurrence in f (line 1)\n-caf\ufffd \ufffd\n+caf\ufffdé", "caf\x80\xc3\xa9\n")
      )
      const reports = {
        "CAF\udce9": "Line 1 matches but for white space or the case of letters:\n     1\tcaf\ufffd cr\ufffdme",
        "caf\udce9 cr\udce8me\udcff": "The nearest lines:\n     1\tcaf\ufffd cr\ufffdme",
        "x caf\udce9 cr\udce9me": "The nearest lines:\n     1\tcaf\ufffd cr\ufffdme"
      }
      for (const [old, report] of Object.entries(reports)) {
        const { content, stderr } = yield* edited("caf\xe9 cr\xe8me\n", [old, "x"])
        assert.strictEqual(stderr, `edit: f: the old text was not found; the file is unchanged\n${report}\n`)
        assert.strictEqual(content, "caf\xe9 cr\xe8me\n")
      }
    })
  )

  it.effect("refuses an old text that is empty, or the new one", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "a" })
      const usage = `\nUsage: edit <file> <old> <new> [--all] | --patch < <patch>\nBash(command="edit --help") shows more.`
      assert.deepStrictEqual(yield* failed(Edit.make, ["f", "", "x"], { files }), {
        _tag: "InvalidUsage",
        exitCode: 1,
        message: `edit: <old> is empty: use "write" for a new file, or name the text to insert at.${usage}`
      })
      assert.deepStrictEqual(yield* failed(Edit.make, ["f", "a", "a"], { files }), {
        _tag: "InvalidUsage",
        exitCode: 1,
        message: "edit: <old> and <new> are the same: nothing would change."
      })
      for (const args of [["f"], ["f", "a"], ["f", "a", "b", "c"], ["f", "a", "b", "--every"]]) {
        assert.strictEqual((yield* failed(Edit.make, args, { files }))._tag, "InvalidUsage")
      }
      assert.strictEqual(files.writes(), 0)
    })
  )

  it.effect("says what is wrong with the file", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({
        d: { kind: "directory", reason: "Is a directory" },
        r: { kind: "denied", reason: "Permission denied" },
        p: { kind: "special", reason: "not a regular file" }
      })
      const messages = {
        "src/no": `edit: src/no: No such file or directory\nBash(command="ls src") shows what there is.`,
        d: `edit: d: Is a directory\nBash(command="ls d") lists it.`,
        r: "edit: r: Permission denied",
        p: "edit: p: not a regular file"
      }
      for (const [path, message] of Object.entries(messages)) {
        const error = yield* failed(Edit.make, [path, "a", "b"], { files })
        assert.deepStrictEqual(error, { _tag: "ExecutionFailed", exitCode: 1, message })
      }
    })
  )

  it.effect("reads regular files only", () =>
    Effect.gen(function* () {
      const memory = MemoryFiles.make({ f: "a" })
      const asked: Array<ReadOptions | undefined> = []
      const files: MemoryFiles.MemoryFiles = {
        ...memory,
        read: (path, options) => {
          asked.push(options)
          return memory.read(path, options)
        }
      }
      yield* run(Edit.make, ["f", "a", "b"], { files })
      assert.deepStrictEqual(asked, [{ regular: true }])
    })
  )

  it.effect("waits for an edit that runs, whatever file that is of", () =>
    Effect.gen(function* () {
      const memory = MemoryFiles.make({ f: "ab", g: "b" })
      const reading = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      const slow: MemoryFiles.MemoryFiles = {
        ...memory,
        read: (path) =>
          Stream.unwrap(
            Effect.as(
              Effect.zipRight(Deferred.succeed(reading, undefined), Deferred.await(released)),
              memory.read(path)
            )
          )
      }
      const handler = Effect.succeed(yield* Edit.make)
      const first = yield* Effect.fork(run(handler, ["f", "a", "x"], { files: slow }))
      yield* Deferred.await(reading)
      const second = yield* Effect.fork(run(handler, ["g", "b", "y"], { files: memory }))
      yield* Effect.yieldNow({ priority: 1 })
      assert.strictEqual(memory.get("g")?.toString(), "b")
      yield* Fiber.interrupt(first)
      yield* Fiber.join(second)
      assert.deepStrictEqual([memory.get("f")?.toString(), memory.get("g")?.toString()], ["ab", "y"])
    })
  )

  it.effect("runs one at a time, so that none is lost", () =>
    Effect.gen(function* () {
      const memory = MemoryFiles.make({ f: Array.from({ length: 50 }, (_, index) => `<${index}>`).join("") })
      const files: MemoryFiles.MemoryFiles = {
        ...memory,
        // Whoever runs beside it reads before this is written.
        write: (path, content) => Effect.zipRight(Effect.yieldNow(), memory.write(path, content))
      }
      const handler = yield* Edit.make
      yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => index),
        (index) => run(Effect.succeed(handler), ["f", `<${index}>`, "."], { files }),
        { concurrency: "unbounded", discard: true }
      )
      assert.strictEqual(memory.get("f")?.toString(), ".".repeat(50))
    })
  )

  it.effect("is quick about what is slow to find", () =>
    Effect.gen(function* () {
      const content = "a".repeat(400_000)
      const half = "a".repeat(5000)
      const { stderr } = yield* edited(content, [`${half}b${half}`, "x"], [65536])
      assert.include(stderr, "not found")
      assert.deepStrictEqual(
        yield* edited(content, ["a", "", "--all"], [65536]),
        said(`Replaced 400000 occurrences in f (line 1, …)\n-${"a".repeat(160)}…`, "")
      )
      assert.deepStrictEqual(
        yield* edited(content, [half, "b", "--all"], [65536]),
        said(`Replaced 80 occurrences in f (line 1, …)\n-${"a".repeat(160)}…\n+b`, "b".repeat(80))
      )
    })
  )

  it.effect("does what a plain search and replace does, on any bytes", () => {
    const few = FastCheck.constantFrom("a", "b", "\n", "\xff", "\0", "\r\n")
    const text = FastCheck.array(FastCheck.constantFrom("a", "b", "\n", "é"), { minLength: 1, maxLength: 4 })
    return Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.oneof(
            FastCheck.array(few, { maxLength: 80 }).map((parts) => Buffer.from(parts.join(""), "latin1")),
            FastCheck.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes))
          ),
          text.map((parts) => parts.join("")),
          FastCheck.string({ maxLength: 5 }),
          FastCheck.boolean(),
          FastCheck.array(FastCheck.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
          async (content, old, replacement, all, sizes) => {
            FastCheck.pre(old !== replacement && Encoding.detect(content) === undefined)
            // Letters may not go into a file that is not UTF-8.
            FastCheck.pre(!/[^\0-\x7f]/.test(old + replacement) || isUtf8(content))
            const latin1 = (text: string) => Buffer.from(text).toString("latin1")
            const crlf = (text: string) => text.replace(/\r?\n/g, "\r\n")
            const whole = content.toString("latin1")
            const isCrlf = !whole.includes(latin1(old)) && /\n/.test(old) && !old.includes("\r")
            const between = isCrlf ? latin1(crlf(old)) : latin1(old)
            // Where line ends are mixed, the place is found by what it looks like.
            FastCheck.pre(whole.includes(between) || !whole.replaceAll("\r\n", "\n").includes(latin1(old)))
            const result = await Effect.runPromise(
              edited(content, ["--", old, replacement].toSpliced(0, 0, ...(all ? ["--all"] : [])), sizes)
            )
            const [first = "", ...rest] = whole.split(between)
            const next = /\n/.exec(rest.join(between))
            const end =
              next === null ? first.slice(0, first.lastIndexOf("\n") + 1) : rest.join(between).slice(0, next.index + 1)
            const takesCrlf = isCrlf || (!old.includes("\n") && end.endsWith("\r\n"))
            const put = latin1(takesCrlf ? crlf(replacement) : replacement)
            const expected =
              rest.length === 0 ? whole : all ? [first, ...rest].join(put) : `${first}${put}${rest.join(between)}`
            assert.strictEqual(result.content, expected)
            assert.strictEqual(result.writes, rest.length === 0 ? 0 : 1)
            assert.strictEqual(result.exitCode, rest.length === 0 ? 1 : 0)
          }
        ),
        { numRuns: 100 }
      )
    )
  })
})
