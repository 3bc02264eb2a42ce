/** Against a real bash: how the caller of `edit` and `write` puts a new content in the place of a file. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"
import { inHouse, inHouses } from "../support/toolset/House.js"

const hasPerl = ChildProcess.spawnSync("/usr/bin/perl", ["-e", "0"]).status === 0
const isX64 = process.platform === "linux" && process.arch === "x64"

describe("a file that is replaced", () => {
  if (hasPerl && isX64) {
    inHouse("S51: costs two processes: the caller, and the one that replaces it", ({ put, run }) =>
      Effect.gen(function* () {
        put("f", "one\n")
        // In the sandbox, nobody else starts processes.
        const last = `sh -c 'echo $$'`
        const { stdout } = yield* run(
          `edit f one 1 >shown; a=$(${last}); edit f 1 one >shown; b=$(${last}); echo $((b - a))`
        )
        // The last of them is the one that counts.
        assert.strictEqual(stdout, "3\n")
      })
    )

    inHouses("keeps extended attributes", ({ bytes, cwd, put, run }) =>
      Effect.gen(function* () {
        put("f", "one\n")
        const named = `my ($file, $name, $value) = ($ARGV[0], "user.synapse", "kept"); `
        const perl = (code: string) =>
          ChildProcess.spawnSync("/usr/bin/perl", ["-e", named + code, `${cwd}/f`], { encoding: "utf8" })
        const made = perl("exit(syscall(188, $file, $name, $value, 4, 0) == 0 ? 0 : $! == 95 ? 3 : 1)")
        // A file system without them has nothing to keep.
        if (made.status === 3) return
        assert.strictEqual(made.status, 0, made.stderr)
        yield* run("edit f one two")
        assert.strictEqual(bytes("f"), "two\n")
        yield* run("write f three")
        const { stdout } = perl('$value = " " x 9; print substr $value, 0, syscall(191, $file, $name, $value, 9)')
        assert.deepStrictEqual([bytes("f"), stdout], ["three", "kept"])
      })
    )
  }

  inHouse("is replaced as well where what replaces it is killed", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      put("f", "0\n")
      yield* run("(while :; do pkill -KILL -x perl; done) >/dev/null 2>&1 & echo $! >killer")
      const { exitCode, stderr } = yield* run("for n in {0..29}; do edit f $n $((n + 1)) >/dev/null || exit; done")
      yield* run("kill $(<killer)")
      assert.deepStrictEqual([exitCode, stderr, bytes("f")], [0, "", "30\n"])
    })
  )

  it.live.skipIf(process.platform !== "linux")(
    "keeps its mode where perl can't be run",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const cwd = yield* Directory.make
          const outside = yield* Directory.make
          Fs.writeFileSync(`${cwd}/f`, "one\n", { mode: 0o751 })
          const command = "/usr/bin/perl -e 0; echo $?; edit f one two >shown; write f three >shown; cat f"
          const sandbox = { home: `${outside}/home`, temporary: outside, blacklist: ["/usr/bin/perl"] }
          const { extras } = yield* Effect.provide(
            Effect.flatMap(Toolset, (toolset) =>
              toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
            ),
            Synapse.layer({ cwd }, { sandbox })
          )
          assert.deepStrictEqual([extras.stdout, Fs.statSync(`${cwd}/f`).mode & 0o777], ["126\nthree", 0o751])
        })
      ),
    60_000
  )
})
