/** One file is edited by one call at a time, whatever names the calls know it by. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type App, inApps } from "../support/toolset/App.js"

const count = 20

/** Edits each line of the file at the same time, by these names in turn, and counts what arrived. */
const arrived = ({ bytes, put, run }: App, prepare: string, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    put("many", Array.from({ length: count }, (_, index) => `line ${index}.\n`).join(""))
    const seen = yield* run(
      `${prepare}; names=(${names.join(" ")}); for i in {0..${count - 1}}; do ` +
        `edit "\${names[i % ${names.length}]}" "line $i." "done $i." >/dev/null & done; wait; echo over`
    )
    assert.deepStrictEqual(seen, { exitCode: 0, stdout: "over\n", stderr: "" }, prepare)
    const { length } = bytes("many").match(/done/g) ?? []
    yield* run("rm -r -- *")
    return length
  })

/** How the names are made that one file has, and these. */
const named: ReadonlyArray<readonly [prepare: string, names: ReadonlyArray<string>]> = [
  ["ln -s many a; ln -s $PWD/a b", ["many", "a", "b"]],
  ["mkdir d", ["many", "./many", "d/../many", '"$PWD/many"', ".//many"]],
  ["ln -s . d; mkdir e; ln -s .. e/f", ["many", "d/many", "e/f/many"]],
  ["ln many other; ln -s other third", ["many", "other", "third"]],
  ["exec 7<many", ["many", "/proc/self/cwd/many"]]
]

describe("edits of one file at once", () => {
  inApps(
    "S40 S51: no edit is lost through links, hard ones, other spellings, linked directories, /proc and descriptors",
    (app) =>
      Effect.gen(function* () {
        for (const [prepare, names] of named) assert.strictEqual(yield* arrived(app, prepare, names), count, prepare)
      })
  )

  inApps("leave hard links what they are", ({ bytes, cwd, run }) =>
    Effect.gen(function* () {
      yield* run("echo one >f; ln f g; edit f one two; write g three")
      assert.deepStrictEqual([bytes("f"), bytes("g")], ["three", "three"])
      assert.strictEqual(Fs.statSync(`${cwd}/f`).ino, Fs.statSync(`${cwd}/g`).ino)
    })
  )

  inApps("and writes of it leave one or the other, whole", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        put("f", "old\n")
        yield* run("ln -sf f l; edit f old edited >/dev/null & write l written >/dev/null & wait")
        // Never the text from before the write, edited after it.
        assert.strictEqual(bytes("f"), "written")
      }
    })
  )

  inApps("go on when one of them is killed, and while another stands still", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      put("f", "a b c\n")
      // It has the turn and waits for a pipe; no other may wait for it once it is gone.
      const seen = yield* run(
        "mkfifo p; (cat p | write f) & sleep 0.2; edit f a A >/dev/null; kill %1; wait 2>/dev/null; edit f b B >/dev/null; " +
          "for i in {1..10}; do (edit f c C >/dev/null 2>&1 & kill -9 $!); done; wait; edit f B D"
      )
      assert.strictEqual(seen.exitCode, 0, seen.stderr)
      assert.match(bytes("f"), /^A D [cC]\n$/)
    })
  )

  inApps("of a file that a descriptor only still knows are refused", ({ cwd, run }) =>
    Effect.gen(function* () {
      const seen = yield* run("echo a >f; exec 7<f; rm f; edit /proc/self/fd/7 a b; exec 7<&-")
      assert.include(seen.stderr ?? "", "edit: /proc/self/fd/7: a file that was deleted\n")
      assert.deepStrictEqual(Fs.readdirSync(cwd), [])
    })
  )

  inApps("know names that other programs read otherwise", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      put("-", "a")
      put("f\n", "a")
      yield* run("edit - a b; write - c; ln -s $'f\\n' l; edit l a b; ls")
      assert.deepStrictEqual([bytes("-"), bytes("f\n")], ["c", "b"])
      assert.strictEqual((yield* run("ls | wc -l")).stdout, "4\n")
    })
  )
})
