/** Against a real bash: a full temporary directory keeps no command from running that makes room. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { make, result, services, withSession } from "../support/Session.js"

const mounted = (path: string) =>
  ChildProcess.spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", path]).status === 0

/** True where this process may mount a file system. */
const mayMount = (() => {
  const path = Fs.mkdtempSync(Path.join(Os.tmpdir(), "full-"))
  try {
    return mounted(path) && ChildProcess.spawnSync("umount", [path]).status === 0
  } finally {
    Fs.rmdirSync(path)
  }
})()

/** A small file system for sessions. */
const small = Effect.acquireRelease(
  Effect.sync(() => {
    const path = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "full-")))
    assert.isTrue(mounted(path))
    return { path }
  }),
  ({ path }) =>
    Effect.sync(() => {
      ChildProcess.spawnSync("umount", ["-l", path])
      Fs.rmSync(path, { recursive: true, force: true })
    })
)

const fill =
  "cat /dev/zero >> big 2>/dev/null; cat /dev/zero >> big2 2>/dev/null; df --output=avail . | tail -1 | tr -d ' '"

describe.skipIf(!mayMount)("a full temporary directory", () => {
  it.live(
    "runs the command that makes room, refuses one that does not fit, and runs nothing of it later",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { path } = yield* small
          const session = yield* Effect.provide(
            make,
            Layer.fresh(services({ cwd: path, timeout: 20_000, privateDirectories: [Path.join(path, "synapse-own")] }))
          )
          const run = session.execute
          yield* run("kept=1")
          assert.strictEqual((yield* run(fill)).stdout, "0\n")
          assert.deepStrictEqual(yield* run("echo on; (exit 3)"), result({ stdout: "on\n", exitCode: 3 }))
          const long = yield* Effect.either(run("echo ran >> /proc/self/fd/1; : stale\n".repeat(9000)))
          assert.strictEqual(long._tag, "Left")
          assert.include(String(long._tag === "Left" && long.left.message), "no space left")
          assert.deepStrictEqual(yield* run("echo $kept"), result({ stdout: "1\n" }))
          assert.deepStrictEqual(yield* run("exit 4"), { ...result({ exitCode: 4 }), left: true })
          assert.deepStrictEqual(yield* run("echo $? $kept"), result({ stdout: "4 1\n" }))
          assert.deepStrictEqual(yield* run("rm big big2"), result())
          const text = `${"# text\n".repeat(30_000)}echo $kept`
          assert.deepStrictEqual(yield* run(text), result({ stdout: "1\n" }))
          assert.strictEqual((yield* run(fill)).stdout, "0\n")
          assert.deepStrictEqual(yield* run("rm big*; echo again"), result({ stdout: "again\n" }))
        })
      ),
    60_000
  )
})

/** Sets the size that a file of this process may have; what would become longer fails as on a full disk. */
const limitFiles = (soft: string) =>
  ChildProcess.spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${soft}:`]).status === 0

describe.skipIf(!limitFiles("unlimited"))("a command's text that can't be written", () => {
  it.live("is refused, and nothing of it or of the one before runs with the next", () =>
    withSession(({ directory, run }) =>
      Effect.gen(function* () {
        const stale = "echo x >>ran; true\n".repeat(10_000)
        const texts = () =>
          Fs.readdirSync(Path.dirname(directory), { recursive: true, encoding: "utf8" })
            .filter((name) => Path.basename(name) === "command")
            .map((name) => Fs.readFileSync(Path.join(directory, "..", name), "utf8"))
        for (const before of ["true", `${"true\n".repeat(15_000)}`]) {
          assert.deepStrictEqual(yield* run(before), result())
          assert.isTrue(limitFiles("100000"))
          const refused = yield* Effect.either(run(stale)).pipe(
            Effect.ensuring(Effect.sync(() => limitFiles("unlimited")))
          )
          assert.include(String(refused._tag === "Left" && refused.left.message), "has not run: EFBIG")
          assert.deepStrictEqual(texts(), [""])
          assert.deepStrictEqual(yield* run("echo next"), result({ stdout: "next\n" }))
          assert.deepStrictEqual(yield* run(""), result())
        }
        assert.deepStrictEqual(Fs.readdirSync(directory), [])
      })
    )
  )
})
