/** Against a real bash: how the caller of `edit` and `write` puts a new content in the place of a file. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inHouse, inHouses } from "../support/toolset/House.js"

const hasPerl = ChildProcess.spawnSync("/usr/bin/perl", ["-e", "0"]).status === 0
const isX64 = process.platform === "linux" && process.arch === "x64"

describe("a file that is replaced", () => {
  if (hasPerl && isX64) {
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
})
