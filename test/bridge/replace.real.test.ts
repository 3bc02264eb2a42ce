/** Against a real bash: how the caller of `edit` and `write` puts a new content in the place of a file. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"
import { inHouse, inHouses, utf8 } from "../support/toolset/House.js"

const hasPerl = ChildProcess.spawnSync("/usr/bin/perl", ["-e", "0"]).status === 0
const isX64 = process.platform === "linux" && process.arch === "x64"

describe("a file that is replaced", () => {
  if (hasPerl && isX64) {
    inHouse("S51: costs one process, the caller", ({ put, run }) =>
      Effect.gen(function* () {
        put("f", "one\n")
        // In the sandbox, nobody else starts processes.
        const last = `sh -c 'echo $$'`
        const { stdout } = yield* run(
          `edit f one 1 >shown; a=$(${last}); edit f 1 one >shown; b=$(${last}); echo $((b - a))`
        )
        // The last of them is the one that counts.
        assert.strictEqual(stdout, "2\n")
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

  inHouse("is replaced whatever its name, its mode or the caller's descriptors are", ({ bytes, cwd, put, run }) =>
    Effect.gen(function* () {
      for (const name of ["-", "-e", "a\nb", " ", "é", "'", "x".repeat(255)]) {
        put(name, "one\n")
        Fs.chmodSync(`${cwd}/${name}`, 0o754)
        const path = `'${name.replaceAll("'", "'\\''")}'`
        const { exitCode, stderr } = yield* run(`umask 0; edit -- ${path} one two >/dev/null && write -- ${path} three`)
        assert.deepStrictEqual([exitCode, stderr, bytes(name)], [0, "", "three"], name)
        assert.strictEqual(Fs.statSync(`${cwd}/${name}`).mode & 0o777, 0o754)
        Fs.rmSync(`${cwd}/${name}`)
      }
      put("f", "one\n")
      const full = yield* run("edit f one two >/dev/full")
      assert.deepStrictEqual([full.exitCode, bytes("f")], [1, "two\n"])
      assert.match(full.stderr ?? "", /No space left on device/)
      const closed = yield* run("edit f two three <&- >&-")
      assert.deepStrictEqual([closed.exitCode, bytes("f")], [1, "three\n"])
      const ended = yield* run("edit f three four | true; echo ${PIPESTATUS[0]}")
      assert.include(["0\n", "141\n"], ended.stdout)
      assert.strictEqual(bytes("f"), "four\n")
      yield* run("umask 027; write new x; write sub/new x")
      assert.deepStrictEqual(
        ["new", "sub/new"].map((name) => Fs.statSync(`${cwd}/${name}`).mode & 0o777),
        [0o640, 0o640]
      )
      assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), ["f", "new", "sub"])
    })
  )

  inHouse("takes no options for perl from the caller", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      put("f", "one\n")
      put("Evil.pm", "print STDERR qq{evil\\n}; 1")
      for (const variables of ["PERL5OPT=-MEvil PERL5LIB=$PWD", "PERL_UNICODE=SDA", "PERLIO=:utf8"]) {
        put("f", "one é\n")
        const { exitCode, stderr } = yield* run(`export ${variables}; edit f 'one é' 'two é' >/dev/null`)
        assert.deepStrictEqual([exitCode, stderr], [0, ""], variables)
        assert.strictEqual(bytes("f"), utf8("two é\n"))
      }
    })
  )

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
