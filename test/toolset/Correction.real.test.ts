/** The calls that are answered to other agents' tools, copied as they stand: a real shell does what the tool would. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Advice from "../../src/domain/Advice.js"
import * as Correction from "../../src/toolset/internal/Correction.js"
import { type House, inHouse } from "../support/toolset/House.js"

/** Runs the command that the answer to a call shows. */
const copied = ({ run }: House, name: string, params: unknown) => {
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
  inHouse("writes and edits any text, and reads it under any name", (house) =>
    Effect.gen(function* () {
      for (const text of sample(25)) {
        const file_path = named(text)
        const written = yield* copied(house, "Write", { file_path, content: text })
        assert.strictEqual(written.exitCode, 0, written.stderr)
        assert.strictEqual(Fs.readFileSync(`${house.cwd}/${file_path}`, "utf8"), text)
        assert.strictEqual((yield* copied(house, "Read", { file_path })).exitCode, 0)
        const old_string = `${text}b`
        house.put(file_path, `${old_string}${old_string}`)
        yield* copied(house, "Edit", { file_path, old_string, new_string: text, replace_all: true })
        assert.strictEqual(Fs.readFileSync(`${house.cwd}/${file_path}`, "utf8"), text + text)
        assert.deepStrictEqual(Fs.readdirSync(house.cwd), [file_path])
        Fs.rmSync(`${house.cwd}/${file_path}`)
      }
    })
  )

  inHouse("searches for any text, and finds files by any pattern", (house) =>
    Effect.gen(function* () {
      house.put("a.ts", "x12\n")
      house.put("b.js", "x12\n")
      house.put(" $a.ts", "")
      const found = (name: string, params: object) => Effect.map(copied(house, name, params), ({ stdout }) => stdout)
      assert.strictEqual(yield* found("Grep", { pattern: "x\\d+", type: "ts" }), "./a.ts\n")
      assert.strictEqual(
        yield* found("Grep", { pattern: "X1", "-i": true, output_mode: "content", path: "a.ts" }),
        "1:x12\n"
      )
      assert.strictEqual(yield* found("Glob", { pattern: "**/[ab].{ts,js}" }), "a.ts\nb.js\n")
      assert.strictEqual(yield* found("Glob", { pattern: " $*.ts" }), " $a.ts\n")
      assert.strictEqual(yield* found("Glob", { pattern: "none*", path: "." }), "")
      for (const text of sample(15)) {
        yield* copied(house, "Glob", { pattern: text })
        yield* copied(house, "Grep", { pattern: text })
        yield* copied(house, "LS", { path: text })
      }
      assert.deepStrictEqual(Fs.readdirSync(house.cwd).sort(), [" $a.ts", "a.ts", "b.js"])
    })
  )

  inHouse("runs words and a patch, and leaves the shell where it is", (house) =>
    Effect.gen(function* () {
      const words = yield* copied(house, "shell", { command: ["printf", "%s|", "a b", "it's", "$x"], workdir: "/" })
      assert.strictEqual(words.stdout, "a b|it's|$x|")
      assert.strictEqual(
        (yield* copied(house, "shell", { command: ["bash", "-lc", "pwd | cat; cat <<'E'\nx\nE"], workdir: "/" }))
          .stdout,
        "/\nx\n"
      )
      assert.strictEqual((yield* house.run("pwd")).stdout, `${house.cwd}\n`)
      house.put("c", "one\ntwo\nthree\n")
      house.put("e", "")
      const input =
        "*** Begin Patch\n*** Add File: a b\n+it's\n*** Update File: c\n*** Move to: d\n@@\n one\n-two\n+2\n three\n*** Delete File: e\n*** End Patch"
      assert.strictEqual((yield* copied(house, "apply_patch", { input })).exitCode, 0)
      assert.deepStrictEqual(Fs.readdirSync(house.cwd).sort(), ["a b", "d"])
      assert.deepStrictEqual([house.bytes("a b"), house.bytes("d")], ["it's\n", "one\n2\nthree\n"])
      const todos = [{ content: "it's", status: "pending", priority: "high" }]
      assert.strictEqual((yield* copied(house, "TodoWrite", { todos })).exitCode, 0)
    })
  )
})
