import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { inApp } from "../support/toolset/App.js"

const GiB = 1024 ** 3

/** Makes a file of that many bytes that takes no place. */
const sparse = (path: string, size: number) => {
  Fs.writeFileSync(path, "")
  Fs.truncateSync(path, size)
}

describe("while a Synapse command works on a huge file", () => {
  inApp("it refuses one that is too big, and leaves the file and the shell as they were", ({ cwd, handle, run }) =>
    Effect.gen(function* () {
      sparse(`${cwd}/f`, 64 * GiB)
      yield* run("kept=1; ln -s f g")
      const { extras } = yield* handle({ command: "edit g old new --all", timeout: 60_000 })
      assert.strictEqual(extras.exitCode, 1)
      assert.include(extras.stderr, "256 MiB")
      assert.strictEqual(Fs.statSync(`${cwd}/f`).size, 64 * GiB)
      assert.deepStrictEqual(yield* run("echo $kept; ls -A"), { exitCode: 0, stdout: "1\nf\ng\n", stderr: "" })
    })
  )

  inApp("its cancel is heard, and nothing is written", ({ cwd, handle, run }) =>
    Effect.gen(function* () {
      sparse(`${cwd}/f`, GiB / 4)
      const file = Fs.openSync(`${cwd}/f`, "r+")
      // The beginning tells that it is text.
      Fs.writeSync(file, `${"\n".repeat(8192)}old`)
      Fs.closeSync(file)
      yield* run("echo a >g; edit g a b")
      const fiber = yield* Effect.fork(handle({ command: "edit f old new" }))
      yield* Effect.sleep(300)
      yield* Fiber.interrupt(fiber)
      // One edit waits for another, so one that did not hear it has written before this one does.
      yield* run("edit g b c")
      assert.deepStrictEqual(yield* run("ls -A; tail -c +8193 f | head -c 3"), {
        exitCode: 0,
        stdout: "f\ng\nold",
        stderr: ""
      })
    })
  )
})

describe("a huge command", () => {
  inApp("runs, whatever it is made of", ({ cwd, run }) =>
    Effect.gen(function* () {
      Fs.writeFileSync(`${cwd}/f`, "text\n")
      const ok = (stdout: string) => ({ exitCode: 0, stdout, stderr: "" })
      assert.deepStrictEqual(yield* run(`: ${"a ".repeat(100_000)}; echo done`), ok("done\n"))
      assert.deepStrictEqual(yield* run(`cat <<'E' | wc -c\n${"a\n".repeat(500_000)}E`), ok("1000000\n"))
      // A command of ours that was not read as such goes to the shell, which calls it.
      const todos = JSON.stringify({ todos: [{ content: "a", activeForm: "b", status: "pending" }] })
      const updated = ok("Todo list updated: 0 completed, 0 in progress, 1 pending\n[ ] a\n")
      assert.deepStrictEqual(yield* run(`TodoWrite <<'E'\n${todos}${" ".repeat(1_000_000)}\nE`), updated)
      assert.deepStrictEqual(
        yield* run(`write f '${"x".repeat(1_000_000)}'`),
        ok("Written 1000000 bytes (1 line) to f\n")
      )
      assert.deepStrictEqual(yield* run(`${" ".repeat(1_000_000)}read f | wc -c`), ok("1000008\n"))
    })
  )

  inApp("of one sign or word, over and over, is handed over in a time that grows with its length only", ({ run }) =>
    Effect.gen(function* () {
      for (const text of ["\n", " ", "#\n", "set ", "exec ", "| ", "- "]) {
        const { exitCode, stderr } = yield* run(`: '${text.repeat(1_000_000 / text.length)}'`)
        assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" }, text)
      }
      const newlines = "\n".repeat(1_000_000)
      assert.deepStrictEqual(yield* run(`:${newlines}`), { exitCode: 0, stdout: "", stderr: "" })
      assert.deepStrictEqual(yield* run(`${newlines}echo a`), { exitCode: 0, stdout: "a\n", stderr: "" })
    })
  )

  inApp("keeps its place before the calls that come after it, and can be cancelled", ({ handle, run }) =>
    Effect.gen(function* () {
      const huge = `: ${"a ".repeat(500_000)}`
      yield* Effect.all([handle({ command: `echo a >>f; ${huge}` }), handle({ command: "echo b >>f" }, "2")], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* run("cat f"), { exitCode: 0, stdout: "a\nb\n", stderr: "" })
      const fiber = yield* Effect.fork(handle({ command: `sleep 60; ${huge}` }))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* run("cat f"), { exitCode: 0, stdout: "a\nb\n", stderr: "" })
    })
  )
})
