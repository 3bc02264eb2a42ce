import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Stream from "effect/Stream"
import * as Write from "../../../src/commands/write/Write.js"
import { ExecutionFailed } from "../../../src/domain/CommandError.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

/** What `write f …` says, and what the file then holds. */
const written = (args: ReadonlyArray<string>, stdin?: ReadonlyArray<string | Uint8Array>) =>
  Effect.gen(function* () {
    const files = MemoryFiles.make({ f: "before" })
    const ground = stdin === undefined ? { files } : { files, stdin }
    const { exitCode, stderr, stdout } = yield* run(Write.make, ["f", ...args], ground)
    return { exitCode, stderr, stdout, content: files.get("f")?.toString() }
  })

const said = (bytes: number, lines: number, content: string) => ({
  exitCode: 0,
  stderr: "",
  stdout: `Written ${bytes} byte${bytes === 1 ? "" : "s"} (${lines} line${lines === 1 ? "" : "s"}) to f\n`,
  content
})

describe("write", () => {
  it.effect("writes its argument as it is", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [content: string, lines: number]> = [
        ["", 0],
        ["a", 1],
        ["a\n", 1],
        ["a\nb", 2],
        ["\n\n", 2],
        ["a\\nb\\t$x", 1],
        ["é🙂\r\n", 1],
        [" -x \ty ", 1]
      ]
      for (const [content, lines] of cases) {
        assert.deepStrictEqual(yield* written([content]), said(Buffer.byteLength(content), lines, content))
      }
      assert.deepStrictEqual(yield* written(["--", "--all"]), said(5, 1, "--all"))
    })
  )

  it.effect("writes bytes that are no UTF-8, and names files by them", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make()
      const { stdout } = yield* run(Write.make, ["a\udcff", "é\udce9\n🙂\udc80"], { files })
      assert.strictEqual(stdout, 'Written 9 bytes (2 lines) to "a\\xff"\n')
      assert.strictEqual(files.get("a\udcff")?.toString("latin1"), "\xc3\xa9\xe9\n\xf0\x9f\x99\x82\x80")
    })
  )

  it.effect("writes standard input where there is no argument", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* written([], ["a\n", "b", "c\n", "d"]), said(6, 3, "a\nbc\nd"))
      assert.deepStrictEqual(yield* written([], []), said(0, 0, ""))
      assert.deepStrictEqual(yield* written([], ["", "a\n", ""]), said(2, 1, "a\n"))
      assert.deepStrictEqual(yield* written(["argument"], ["input"]), said(8, 1, "argument"))
      const bytes = Buffer.from([0, 255, 10, 13, 233])
      const files = MemoryFiles.make()
      yield* run(Write.make, ["new/f"], { files, stdin: [bytes] })
      assert.deepStrictEqual(files.get("new/f"), bytes)
    })
  )

  it.effect("writes nothing where there is neither, and says how it is done", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "before" })
      const error = yield* failed(Write.make, ["f"], { files })
      assert.deepStrictEqual(error, {
        _tag: "InvalidUsage",
        exitCode: 1,
        message: `write: <content> is missing, and nothing comes on standard input; nothing was written.
Usage: write <file> <content>
  write notes.txt 'one line'
  write notes.txt <<'EOF'
  any number of lines
  EOF
Bash(command="write --help") shows more.`
      })
      assert.strictEqual(files.writes(), 0)
      assert.strictEqual((yield* failed(Write.make, [], { files, stdin: ["a"] }))._tag, "InvalidUsage")
      assert.strictEqual((yield* failed(Write.make, ["f", "a", "b"], { files }))._tag, "InvalidUsage")
    })
  )

  it.effect("S38: says that a directory is not a writable file, and every other thing that is wrong", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({
        "/tmp/d": { kind: "directory", reason: "Is a directory" },
        "/etc/x": { kind: "denied", reason: "Permission denied" }
      })
      assert.deepStrictEqual(yield* failed(Write.make, ["/tmp/d", "x"], { files }), {
        _tag: "ExecutionFailed",
        exitCode: 1,
        message: "write: /tmp/d: not a writable file: Is a directory"
      })
      assert.deepStrictEqual(yield* failed(Write.make, ["/etc/x"], { files, stdin: ["x"] }), {
        _tag: "ExecutionFailed",
        exitCode: 1,
        message: "write: /etc/x: Permission denied"
      })
    })
  )

  it.effect("leaves the file where standard input fails", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ f: "before" })
      const broken = new ExecutionFailed({ kind: "shell", reason: "the shell has ended" })
      const handler = yield* Write.make
      const stdin = Stream.concat(Stream.succeed(Buffer.from("a")), Stream.fail(broken))
      const call = { name: "write", args: ["f"], cwd: "/", write: () => Effect.void, files, stdin }
      assert.strictEqual(yield* Effect.flip(handler.run(call, {})), broken)
      assert.strictEqual(files.get("f")?.toString(), "before")
    })
  )

  it.effect("counts bytes and lines, however they come", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(FastCheck.uint8Array({ maxLength: 50 }), { maxLength: 10 }),
          FastCheck.integer({ min: 0, max: 255 }),
          async (parts, replaced) => {
            // Many a newline, at every alignment.
            const stdin = parts.map((part) => part.map((byte) => (byte > replaced ? 0x0a : byte)))
            const all = Buffer.concat(stdin)
            const lines = all.filter((byte) => byte === 0x0a).length + (all.length > 0 && all.at(-1) !== 0x0a ? 1 : 0)
            const files = MemoryFiles.make()
            const { stdout } = await Effect.runPromise(run(Write.make, ["f"], { files, stdin }))
            assert.strictEqual(
              stdout,
              `Written ${all.length} byte${all.length === 1 ? "" : "s"} (${lines} line${lines === 1 ? "" : "s"}) to f\n`
            )
            assert.deepStrictEqual(files.get("f"), all)
          }
        ),
        { numRuns: 100 }
      )
    )
  )

  it.effect("names the way to append, and writes nothing", () =>
    Effect.gen(function* () {
      const example = (...args: ReadonlyArray<string>) =>
        Effect.map(failed(Write.make, args), ({ message }) => message.split("\n").slice(2, -1).join("\n"))
      for (const option of ["-a", "--append"]) {
        assert.strictEqual(yield* example(option, "f"), "  cat >> notes.txt <<'EOF'\n  any number of lines\n  EOF")
      }
      assert.deepStrictEqual(yield* written(["--", "--append"]), said(8, 1, "--append"))
    })
  )
})
