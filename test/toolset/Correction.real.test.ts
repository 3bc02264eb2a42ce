/** The calls that are answered to other agents' tools, copied as they stand: a real shell does what the tool would. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Advice from "../../src/domain/Advice.js"
import * as Correction from "../../src/toolset/internal/Correction.js"
import { type App, inApp } from "../support/toolset/App.js"

/** Runs the command that the answer to a call shows. */
const copied = ({ run }: App, name: string, params: unknown) => {
  const advice = Correction.advise(name, params, { offers: () => false, isOffline: false }) ?? []
  const [, command = ""] = /^Bash\(command=("(?:\\.|[^"\\])*")\)/.exec(Advice.render([advice], Advice.model)) ?? []
  return run(JSON.parse(command))
}

const hostile = FastCheck.string({
  unit: FastCheck.constantFrom(
    "a",
    "'",
    '"',
    "`",
    "$(touch evil)",
    "\\",
    "\n",
    "EOF\n",
    " ",
    "-x",
    "*",
    "!",
    "é",
    "$a"
  ),
  maxLength: 12
})
const sample = (numRuns: number) => FastCheck.sample(hostile, { numRuns, seed: 3 })
const named = (text: string): string => `f${text.replace(/[\n/]/g, "")}`

describe("the command for another agent's tool", () => {
  inApp("writes and edits any text, and reads it under any name", (app) =>
    Effect.gen(function* () {
      for (const text of sample(25)) {
        const file_path = named(text)
        const written = yield* copied(app, "Write", { file_path, content: text })
        assert.strictEqual(written.exitCode, 0, written.stderr)
        assert.strictEqual(Fs.readFileSync(`${app.cwd}/${file_path}`, "utf8"), text)
        assert.strictEqual((yield* copied(app, "Read", { file_path })).exitCode, 0)
        const old_string = `${text}b`
        app.put(file_path, `${old_string}${old_string}`)
        yield* copied(app, "Edit", { file_path, old_string, new_string: text, replace_all: true })
        assert.strictEqual(Fs.readFileSync(`${app.cwd}/${file_path}`, "utf8"), text + text)
        assert.deepStrictEqual(Fs.readdirSync(app.cwd), [file_path])
        Fs.rmSync(`${app.cwd}/${file_path}`)
      }
    })
  )

  inApp("searches for any text, and finds files by any pattern", (app) =>
    Effect.gen(function* () {
      app.put("a.ts", "x12\n")
      app.put("b.js", "x12\n")
      app.put(" $a.ts", "")
      const found = (name: string, params: object) => Effect.map(copied(app, name, params), ({ stdout }) => stdout)
      assert.strictEqual(yield* found("Grep", { pattern: "x\\d+", type: "ts" }), "./a.ts\n")
      assert.strictEqual(
        yield* found("Grep", { pattern: "X1", "-i": true, output_mode: "content", path: "a.ts" }),
        "1:x12\n"
      )
      assert.strictEqual(yield* found("Glob", { pattern: "**/[ab].{ts,js}" }), "a.ts\nb.js\n")
      assert.strictEqual(yield* found("Glob", { pattern: " $*.ts" }), " $a.ts\n")
      assert.strictEqual(yield* found("Glob", { pattern: "none*", path: "." }), "")
      for (const text of sample(15)) {
        yield* copied(app, "Glob", { pattern: text })
        yield* copied(app, "Grep", { pattern: text })
        yield* copied(app, "LS", { path: text })
      }
      assert.deepStrictEqual(Fs.readdirSync(app.cwd).sort(), [" $a.ts", "a.ts", "b.js"])
    })
  )

  inApp("runs words and a patch, and leaves the shell where it is", (app) =>
    Effect.gen(function* () {
      const words = yield* copied(app, "shell", { command: ["printf", "%s|", "a b", "it's", "$x"], workdir: "/" })
      assert.strictEqual(words.stdout, "a b|it's|$x|")
      assert.strictEqual(
        (yield* copied(app, "shell", { command: ["bash", "-lc", "pwd | cat; cat <<'E'\nx\nE"], workdir: "/" })).stdout,
        "/\nx\n"
      )
      assert.strictEqual((yield* app.run("pwd")).stdout, `${app.cwd}\n`)
      app.put("c", "one\ntwo\nthree\n")
      app.put("e", "")
      const input =
        "*** Begin Patch\n*** Add File: a b\n+it's\n*** Update File: c\n*** Move to: d\n@@\n one\n-two\n+2\n three\n*** Delete File: e\n*** End Patch"
      assert.strictEqual((yield* copied(app, "apply_patch", { input })).exitCode, 0)
      assert.deepStrictEqual(Fs.readdirSync(app.cwd).sort(), ["a b", "d"])
      assert.deepStrictEqual([app.bytes("a b"), app.bytes("d")], ["it's\n", "one\n2\nthree\n"])
      const todos = [{ content: "it's", status: "pending", priority: "high" }]
      assert.strictEqual((yield* copied(app, "TodoWrite", { todos })).exitCode, 0)
    })
  )
})
