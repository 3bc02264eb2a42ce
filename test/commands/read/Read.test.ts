import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Read from "../../../src/commands/read/Read.js"
import { FileError } from "../../../src/files/Files.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

/** What `read` makes of one file `f`, read in chunks of these sizes. */
const read = (content: MemoryFiles.Content, args: ReadonlyArray<string> = [], sizes: ReadonlyArray<number> = [7, 1]) =>
  Effect.map(
    run(Read.make, ["f", ...args], {
      files: MemoryFiles.make({ f: content }, sizes),
      // A window that was asked for is shown in a result.
      ...(args.some((arg) => arg.startsWith("--limit")) ? { room: 1_000_000 } : undefined)
    }),
    ({ exitCode, stderr, stdout }) => ({ exitCode, stderr, stdout })
  )

const shown = (stdout: string, stderr = "") => ({ exitCode: 0, stderr, stdout })

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("")

describe("read", () => {
  it.effect("S50: shows the window, with the file's own line numbers", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* read("a\nb\nc\nd\ne\nf\n", ["--offset", "2", "--limit", "3"]),
        shown("     3\tc\n     4\td\n     5\te\n", "read: f: lines 3–5 of 6: read f --offset 5 --limit 3\n")
      )
      assert.deepStrictEqual(
        yield* read("a\nb\nc\nd\ne\n", ["--limit=3", "--offset=2"]),
        shown("     3\tc\n     4\td\n     5\te\n")
      )
    })
  )

  it.effect("S50: says nothing of what follows a window that was asked for, where it goes into a pipe or a file", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: numbers(2001) })
      const said = (...args: ReadonlyArray<string>) =>
        Effect.map(run(Read.make, ["f", ...args], { files }), ({ stderr }) => stderr)
      assert.strictEqual(yield* said("--limit", "3"), "")
      assert.strictEqual(yield* said("--offset", "5", "--limit", "3"), "")
      // Nobody asked for this end.
      assert.strictEqual(yield* said(), "read: f: lines 1–2000 of 2001: read f --offset 2000\n")
      assert.strictEqual(yield* said("--offset", "3000", "--limit", "3"), "read: f: only 2001 lines\n")
    })
  )

  it.effect("S39: shows nothing behind the end, and of an empty file, and says how many lines there are", () =>
    Effect.gen(function* () {
      for (const offset of ["2", "3", "9007199254740991", "9".repeat(40)]) {
        assert.deepStrictEqual(
          yield* read("a\nb\n", ["--offset", offset]),
          shown("", "read: f: only 2 lines\n"),
          offset
        )
        assert.deepStrictEqual(yield* read("a\nb", ["--offset", offset]), shown("", "read: f: only 2 lines\n"), offset)
      }
      assert.deepStrictEqual(yield* read("a", ["--offset", "1"]), shown("", "read: f: only 1 line\n"))
      assert.deepStrictEqual(yield* read(""), shown("", "read: f: empty file\n"))
      assert.deepStrictEqual(yield* read("", ["--offset", "7"]), shown("", "read: f: empty file\n"))
    })
  )

  it.effect("S37: says which file there is not, and every other thing that is wrong with one", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({
        "src/d": { kind: "directory", reason: "Is a directory" },
        "-d": { kind: "directory", reason: "Is a directory" },
        "a b d": { kind: "directory", reason: "Is a directory" },
        "/secret": { kind: "denied", reason: "Permission denied" },
        "/dev/tty": { kind: "special", reason: "Not a regular file" }
      })
      const said = (path: string) => Effect.map(failed(Read.make, ["--", path], { files }), ({ message }) => message)
      assert.deepStrictEqual(yield* failed(Read.make, ["/path/not-exists.txt"], { files }), {
        _tag: "ExecutionFailed",
        exitCode: 1,
        message: `read: /path/not-exists.txt: No such file or directory\nBash(command="ls /") shows what there is.`
      })
      const messages = {
        nope: `read: nope: No such file or directory\nBash(command="ls .") shows what there is.`,
        "/nope": `read: /nope: No such file or directory\nBash(command="ls /") shows what there is.`,
        "a b/c": `read: a b/c: No such file or directory\nBash(command="ls .") shows what there is.`,
        "a b d/c": `read: a b d/c: No such file or directory\nBash(command="ls 'a b d'") shows what there is.`,
        "a b d/e/c": `read: a b d/e/c: No such file or directory\nBash(command="ls 'a b d'") shows what there is.`,
        "http://a.b/c": "read: http://a.b/c: No such file or directory",
        "-d/c": `read: -d/c: No such file or directory\nBash(command="ls ./-d") shows what there is.`,
        "-x/c": `read: -x/c: No such file or directory\nBash(command="ls .") shows what there is.`,
        "a\nb": `read: "a\\nb": No such file or directory\nBash(command="ls .") shows what there is.`,
        "\udcff/é\udc80": `read: "\\xff/é\\x80": No such file or directory\nBash(command="ls .") shows what there is.`,
        "": "read: '': No such file or directory",
        "src/d": `read: src/d: Is a directory\nBash(command="ls src/d") lists it.`,
        "/secret": "read: /secret: Permission denied",
        "/dev/tty":
          'read: /dev/tty: Not a regular file\nBash(command="timeout 5 head -c 4096 /dev/tty") shows what comes of it.'
      }
      for (const [path, message] of Object.entries(messages)) assert.strictEqual(yield* said(path), message)
    })
  )

  it.effect("shows 2000 lines where nothing is said, or as many as the variable says", () =>
    Effect.gen(function* () {
      const counted = (limit: string | undefined) =>
        read(numbers(3000), [], [4096]).pipe(
          Effect.map(({ stdout }) => stdout.split("\n").length - 1),
          Effect.withConfigProvider(
            ConfigProvider.fromMap(new Map(limit === undefined ? [] : [["SYNAPSE_READ_DEFAULT_LIMIT", limit]]))
          )
        )
      assert.strictEqual(yield* counted("12"), 12)
      for (const none of [undefined, "", "0", "-3", "2.5", "many"]) {
        assert.strictEqual(yield* counted(none), 2000, String(none))
      }
      assert.strictEqual(
        (yield* read(numbers(2001), [], [4096])).stderr,
        "read: f: lines 1–2000 of 2001: read f --offset 2000\n"
      )
      assert.strictEqual((yield* read(numbers(2000), [], [4096])).stderr, "")
    })
  )

  it.effect("refuses what is no window", () =>
    Effect.gen(function* () {
      for (const args of [["--offset", "-1"], ["--offset=x"], ["--limit", "0"], ["--limit=1.5"], ["--all"]]) {
        const error = yield* failed(Read.make, ["f", ...args])
        assert.strictEqual(error._tag, "InvalidUsage")
        assert.include(error.message, "Usage: read <file>... [--offset N] [--limit N]")
      }
      const { message } = yield* failed(Read.make, ["f", "--limit", "0"])
      assert.include(message, '--limit must be a whole number from 1; it was "0"')
    })
  )

  it.effect("makes no line of a newline at the end, and one of what stands without one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read("a\n"), shown("     1\ta\n"))
      assert.deepStrictEqual(yield* read("a"), shown("     1\ta\n"))
      assert.deepStrictEqual(yield* read("\n\n"), shown("     1\t\n     2\t\n"))
      assert.deepStrictEqual(yield* read("a\nb", ["--limit", "1"]), {
        ...shown("     1\ta\n"),
        stderr: "read: f: line 1 of 2: read f --offset 1 --limit 1\n"
      })
      const lines = yield* read(`${"\n".repeat(999_998)}a\nb\nc\n`, ["--offset", "999998"], [65536])
      assert.deepStrictEqual(lines, shown("999999\ta\n1000000\tb\n1000001\tc\n"))
    })
  )

  it.effect("cuts what is too long of a line for a result, and says how much that is", () =>
    Effect.gen(function* () {
      const mark = (count: number) => `… [${count} more characters]\n`
      const cases: ReadonlyArray<readonly [content: string, shown: string]> = [
        ["x".repeat(2000), `${"x".repeat(2000)}\n`],
        [`${"x".repeat(2000)}\r\n`, `${"x".repeat(2000)}\n`],
        ["x".repeat(2001), `${"x".repeat(2000)}${mark(1)}`],
        [`${"x".repeat(2345)}\r\n`, `${"x".repeat(2000)}${mark(345)}`],
        ["🙂".repeat(2000), `${"🙂".repeat(2000)}\n`],
        [`${"🙂".repeat(2100)}\n`, `${"🙂".repeat(2000)}${mark(100)}`],
        [`a${"🙂".repeat(2100)}é`, `a${"🙂".repeat(1999)}${mark(102)}`]
      ]
      for (const [content, expected] of cases) {
        // The first cuts a character at each of its bytes.
        for (const sizes of [[3, 6, 1], [65536]]) {
          const files = MemoryFiles.make({ f: content }, sizes)
          const { stdout } = yield* run(Read.make, ["f"], { files, room: 30_000 })
          assert.strictEqual(stdout, `     1\t${expected}`)
          const whole = `     1\t${content.replace(/\r?\n$/, "")}\n`
          assert.strictEqual((yield* read(content, [], sizes)).stdout, whole)
        }
      }
    })
  )

  it.effect("leaves out the CR of a CRLF and a byte order mark, and keeps any other CR", () =>
    Effect.gen(function* () {
      for (const sizes of [[1], [2], [65536]]) {
        assert.deepStrictEqual(
          yield* read("\ufeffa\r\nb\rc\n\r\nd\r", [], sizes),
          shown(
            "     1\ta\n     2\tb\rc\n     3\t\n     4\td\r\n",
            "read: f: lines end in CRLF, shown without the CR\n"
          )
        )
      }
    })
  )

  it.effect("shows U+FFFD for what is no UTF-8, and characters whole that lie in two chunks", () =>
    Effect.gen(function* () {
      const content = Buffer.concat([Buffer.from("é🙂€ß\n"), Buffer.from([0xe9, 0x0a, 0xff, 0xf0, 0x9f, 0x0a, 0xe2])])
      for (const sizes of [[1], [2], [3], [65536]]) {
        assert.deepStrictEqual(
          yield* read(content, [], sizes),
          shown("     1\té🙂€ß\n     2\t\ufffd\n     3\t\ufffd\ufffd\n     4\t\ufffd\n")
        )
      }
    })
  )

  it.effect("does not show what is binary", () =>
    Effect.gen(function* () {
      const said = (content: Uint8Array, args: ReadonlyArray<string> = []) =>
        Effect.map(
          failed(Read.make, ["f", ...args], { files: MemoryFiles.make({ f: content }) }),
          ({ message }) => message
        )
      const binary = (size: number) =>
        `read: f: binary file, ${size} bytes\nBash(command="od -A d -c -N 256 f") shows its beginning.`
      const late = Buffer.from(`${"x".repeat(9000)}\nb\0\n`)
      assert.strictEqual(yield* said(Buffer.from("a\n\0")), binary(3))
      assert.strictEqual(yield* said(late, ["--offset", "1"]), binary(late.length))
      const noise = Buffer.from(Array.from({ length: 2000 }, (_, at) => 1 + ((at * at * 7 + at * 31) % 255)))
      assert.strictEqual(yield* said(noise), binary(2000))
      assert.strictEqual((yield* read(late, ["--limit", "1"])).exitCode, 0)
    })
  )

  it.effect("shows texts with control characters, and those of another encoding", () =>
    Effect.gen(function* () {
      for (const text of [
        Buffer.from("größe\x01ß\x02\n".repeat(300)),
        Buffer.from("größe\x1b[1mß\n".repeat(300), "latin1")
      ])
        assert.strictEqual((yield* read(text)).exitCode, 0)
      // Some bytes of GBK are letters in UTF-8 by chance.
      const { stderr } = yield* read(Buffer.from("\xd7\xa2\xca\xcd\xce\xc4\xbc\xfe\n", "latin1"))
      assert.include(stderr, "f: not UTF-8; --encoding latin1, gbk or another")
    })
  )

  it.effect("says how lines are asked for where numbers stand behind the name of a file", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: Buffer.from("a\nb\n"), 3: Buffer.from("c\n") })
      const said = (...args: ReadonlyArray<string>) =>
        Effect.map(failed(Read.make, ["f", ...args], { files }), ({ message }) => message)
      const meant = (range: string, first: string) =>
        `read: ${first}: no such file\nThe lines of a file: Bash(command="read f:${range}").`
      assert.strictEqual(yield* said("1", "2"), meant("1-2", "1"))
      assert.strictEqual(yield* said("1-2"), meant("1-2", "1-2"))
      assert.strictEqual(yield* said("2"), meant("2", "2"))
      const { stdout } = yield* run(Read.make, ["f", "3"], { files })
      assert.include(stdout, "==> 3 <==")
    })
  )

  it.effect("reads no further than the window goes, but to count the lines that follow it", () =>
    Effect.gen(function* () {
      const memory = MemoryFiles.make({ f: numbers(100_000), one: "x".repeat(1_000_000) }, [1000])
      const asked: Array<object> = []
      const files: MemoryFiles.MemoryFiles = {
        ...memory,
        read: (path, options = {}) => {
          if (options.regular === undefined) return memory.read(path, options)
          asked.push(options)
          return Stream.fail(new FileError({ path, kind: "special", reason: "not a regular file" }))
        }
      }
      const first = yield* run(Read.make, ["f", "--offset", "900", "--limit", "10"], { files, room: 1_000_000 })
      assert.strictEqual(memory.bytesRead(), 4000)
      assert.strictEqual(first.stderr, "read: f: lines 901–910, more follow\n")
      // Deep in the file, the lines before it are not even seen.
      yield* run(Read.make, ["f", "--offset", "50000", "--limit", "10"], { files, room: 1_000_000 })
      assert.strictEqual(memory.bytesRead(), 5000)
      assert.deepStrictEqual(asked, [
        { regular: true, skipLines: 910 },
        { regular: true, skipLines: 0 },
        { regular: true, skipLines: 50_010 }
      ])
      yield* run(Read.make, ["one"], { files })
      assert.strictEqual(memory.bytesRead(), 1_005_000)
    })
  )

  it.effect("counts 64 MiB of further lines, and says that there are more", () =>
    Effect.gen(function* () {
      const chunk = new TextEncoder().encode(`${"x".repeat(1023)}\n`.repeat(1024))
      const files = { ...MemoryFiles.make(), read: () => Stream.repeatValue(chunk) }
      const { stderr } = yield* run(Read.make, ["f", "--limit", "5"], { files, room: 1_000_000 })
      assert.strictEqual(stderr, "read: f: lines 1–5 of more than 65541: read f --offset 5 --limit 5\n")
    })
  )

  it.effect("holds little of a line without an end", () =>
    Effect.gen(function* () {
      let most = 0
      const chunks = function* (): Generator<Uint8Array> {
        const before = process.memoryUsage().arrayBuffers
        for (let count = 0; count < 96; count++) {
          most = Math.max(most, process.memoryUsage().arrayBuffers - before)
          yield new Uint8Array(1024 ** 2).fill("x".charCodeAt(0))
        }
      }
      const files = { ...MemoryFiles.make(), read: () => Stream.fromIteratorSucceed(chunks(), 1) }
      const { stdout } = yield* run(Read.make, ["f"], { files, room: 30_000 })
      assert.isBelow(stdout.length, 2100)
      assert.isBelow(most, 64 * 1024 ** 2)
    })
  )

  it.effect("puts out a large window in parts", () =>
    Effect.gen(function* () {
      const content = `${"line ".repeat(20)}\n`.repeat(10_000)
      const result = yield* run(Read.make, ["f", "--limit", "10000000"], { files: MemoryFiles.make({ f: content }) })
      const expected = content
        .split("\n")
        .slice(0, -1)
        .map((line, index) => `${String(index + 1).padStart(6)}\t${line}\n`)
        .join("")
      assert.isTrue(result.stdout === expected)
      assert.isAbove(result.parts, 5)
      assert.strictEqual(result.stderr, "")
    })
  )
})
