/** What `read` makes of the room in a result: whole lines, and the call that shows the next ones. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Read from "../../../src/commands/read/Read.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

const numbered = (lines: ReadonlyArray<string>, from = 1): string =>
  lines.map((line, index) => `${String(from + index).padStart(6)}\t${line}\n`).join("")

const some = (content: Readonly<Record<string, MemoryFiles.Content>>, args: ReadonlyArray<string>, room?: number) =>
  Effect.map(
    run(Read.make, args, { files: MemoryFiles.make(content), room: room ?? 1_000_000 }),
    ({ exitCode, stderr, stdout }) => ({ exitCode, stderr, stdout })
  )

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
const text = (count: number) => `${lines(count).join("\n")}\n`

describe("read in a result", () => {
  it.effect("shows whole lines, and the call for the next ones", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* some({ f: text(1500) }, ["f"], 1000), {
        exitCode: 0,
        stdout: numbered(lines(60)),
        stderr: "read: f: lines 1–60 of 1500: read f --offset 60\n"
      })
      assert.strictEqual(
        (yield* some({ f: text(1500) }, ["f", "--offset", "60", "--limit", "100"], 1000)).stderr,
        "read: f: lines 61–118 of 1500: read f --offset 118 --limit 42\n"
      )
      assert.strictEqual(
        (yield* some({ f: text(1500) }, ["f:1000-1200"], 1000)).stderr,
        "read: f: lines 1000–1050 of 1500: read f:1051-1200\n"
      )
      assert.strictEqual((yield* some({ f: text(1500) }, ["f"])).stderr, "")
    })
  )

  it.effect("shows one line at least", () =>
    Effect.gen(function* () {
      const wide = `${"x".repeat(500)}\n`
      assert.deepStrictEqual(yield* some({ f: wide.repeat(3) }, ["f", "--offset", "1"], 10), {
        exitCode: 0,
        stdout: numbered(["x".repeat(500)], 2),
        stderr: "read: f: line 2 of 3: read f --offset 2\n"
      })
    })
  )

  it.effect("shows every line once, where each call is the one that the last has named", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(FastCheck.string({ maxLength: 40 }), { minLength: 1, maxLength: 20 }),
          FastCheck.integer({ min: 1, max: 600 }),
          FastCheck.constantFrom("f", "f:1-", "f:1-1000"),
          async (words, room, first) => {
            const all = words.map((word) => `${word.replace(/[^ -~]/g, "")}.`)
            const files = { f: `${all.join("\n")}\n` }
            let shown = ""
            let args: ReadonlyArray<string> | undefined = [first]
            for (let calls = 0; args !== undefined && calls <= all.length; calls++) {
              const { stderr, stdout }: { readonly stderr: string; readonly stdout: string } = await Effect.runPromise(
                some(files, args, room)
              )
              const size = stdout.length + (room < 250 ? 0 : stderr.length)
              assert.isTrue(size <= room || stdout.indexOf("\n") === stdout.length - 1)
              shown += stdout
              args = /: read (.*)\n$/.exec(stderr)?.[1]?.split(" ")
            }
            assert.strictEqual(shown, numbered(all))
          }
        ),
        { numRuns: 50 }
      )
    )
  )

  it.effect("shows several files, each with a header, as far as there is room", () =>
    Effect.gen(function* () {
      const files = { a: "1\n2\n", b: "", "c d": text(200), e: "5\n" }
      assert.deepStrictEqual(yield* some(files, ["a", "b", "e", "--limit", "1"]), {
        exitCode: 0,
        stdout: `==> a <==\n${numbered(["1"])}\n==> b <==\n\n==> e <==\n${numbered(["5"])}`,
        stderr: "read: a: line 1 of 2: read a --offset 1 --limit 1\nread: b: empty file\n"
      })
      const { stderr, stdout } = yield* some(files, ["a", "c d", "e"], 1000)
      assert.isAtMost(stdout.length, 1000)
      assert.match(stderr, /^read: c d: lines 1–\d+ of 200: read 'c d' --offset \d+\nread: /)
      assert.isTrue(stderr.endsWith("read: no room is left: read e\n") || stdout.endsWith(numbered(["5"])), stderr)
    })
  )

  it.effect("shows the others where one of several files can't be shown, and fails", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* some({ a: "1\n", b: Buffer.from("b\0"), c: "3\n" }, ["a", "nope", "b", "c"]), {
        exitCode: 1,
        stdout: `==> a <==\n${numbered(["1"])}\n==> c <==\n${numbered(["3"])}`,
        stderr: [
          "read: nope: No such file or directory",
          'Bash(command="ls .") shows what there is.',
          "read: b: binary file, 2 bytes",
          'Bash(command="od -A d -c -N 256 b") shows its beginning.\n'
        ].join("\n")
      })
    })
  )

  it.effect("shows the lines that stand behind the name of a file, but a file of that name before", () =>
    Effect.gen(function* () {
      const files = { f: text(100), "g:1": "its own\n", "a:b": text(5) }
      const cases: Readonly<Record<string, string>> = {
        "f:72-90": numbered(lines(100).slice(71, 90), 72),
        "f:72": numbered(["line 72"], 72),
        "f:99-": numbered(["line 99", "line 100"], 99),
        "f:99-200": numbered(["line 99", "line 100"], 99),
        "g:1": numbered(["its own"]),
        "a:b:2-3": numbered(["line 2", "line 3"], 2)
      }
      for (const [file, stdout] of Object.entries(cases)) {
        assert.deepStrictEqual(yield* some(files, [file]), { exitCode: 0, stdout, stderr: "" }, file)
      }
      assert.strictEqual((yield* some(files, ["f:101"])).stderr, "read: f: only 100 lines\n")
      for (const file of [":1", "none:x", "f:0", "f:9-8", "f:x", "f:", "f:1-2-3"]) {
        const { message } = yield* failed(Read.make, [file], { files: MemoryFiles.make(files) })
        assert.include(message, `read: ${file}: No such file or directory`)
      }
      const { message } = yield* failed(Read.make, ["none:3-4"], { files: MemoryFiles.make(files) })
      assert.include(message, "read: none: No such file or directory")
    })
  )
})
