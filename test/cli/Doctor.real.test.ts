import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Programs from "../../src/sandbox/platform/linux/start/Programs.js"
import { run } from "../support/cli/Program.js"
import * as Directory from "../support/sandbox/Directory.js"

const path = process.env["PATH"] ?? ""
const bwrap = Programs.find(path).bwrap

/** `synapse doctor` in a home of its own, with that PATH. */
const doctor = (home: string, PATH = path, ...args: ReadonlyArray<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      process.env["PATH"] = PATH
    }),
    () =>
      Effect.withConfigProvider(run(["doctor", ...args]), ConfigProvider.fromMap(new Map([["SYNAPSE_HOME", home]]))),
    () =>
      Effect.sync(() => {
        process.env["PATH"] = path
      })
  )

/** A bwrap of that behaviour, in the only directory on the PATH. */
const fake = (directory: string, script: string) => {
  Fs.writeFileSync(`${directory}/bwrap`, `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  return directory
}

/** The temporary directory can be written by commands, so that no bwrap in it is taken. */
const programs = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(`${Directory.isRoot ? "/srv" : "/var/tmp"}/synapse-test-`)),
  (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true }))
)

const missing = (stdout: string) => stdout.split("\n").filter((line) => line.startsWith("missing"))

describe.skipIf(process.platform !== "linux" || bwrap === undefined)("synapse doctor", () => {
  it.scopedLive("finds all that a sandbox needs, and says which versions", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const { exitCode, stderr, stdout } = yield* doctor(home)
      assert.deepStrictEqual([exitCode, stderr, missing(stdout)], [0, "", []])
      assert.match(stdout, /^ok +bwrap +\/\S+, version \d+\.\d+/m)
      assert.match(stdout, /^ok +user namespaces +/m)
      assert.match(stdout, /^ok +seccomp +/m)
      assert.match(stdout, /^ok +bash +\/\S+: GNU bash, version \d/m)
      assert.match(stdout, /^ok +node +\/\S+, version \d/m)
      assert.match(stdout, /^ok +config +.*sandbox\.json is not there: the defaults hold$/m)
      assert.match(stdout, /\nThe sandbox can start\.\n$/)
      const json = JSON.parse((yield* doctor(home, path, "--json")).stdout)
      assert.deepStrictEqual(Object.keys(json), ["ok", "platform", "checks"])
      assert.deepStrictEqual([json.ok, json.platform], [true, "linux"])
      assert.deepStrictEqual(Object.keys(json.checks[0]), ["name", "ok", "required", "detail", "remedy", "status"])
    })
  )

  it.scopedLive("S68: names a bwrap that is not there", () =>
    Effect.gen(function* () {
      const { exitCode, stdout } = yield* doctor(yield* Directory.make, "/nowhere")
      assert.strictEqual(exitCode, 1)
      assert.lengthOf(missing(stdout), 1)
      assert.match(stdout, /^missing +bwrap +bwrap is required .*\n +to mend it: install bubblewrap: /m)
      assert.match(stdout, /\nThe sandbox can't start, .* --no-sandbox\.\n$/)
    })
  )

  it.scopedLive("names a bwrap that is too old", () =>
    Effect.gen(function* () {
      const script = `[[ $1 == --version ]] && { echo bubblewrap 0.3.0; exit; }; echo "bwrap: Unknown option --disable-userns" >&2; exit 1`
      const { exitCode, stdout } = yield* doctor(yield* Directory.make, fake(yield* programs, script))
      assert.strictEqual(exitCode, 1)
      assert.match(stdout, /^missing +bwrap version +bwrap 0\.3\.0 is too old: .*\n +to mend it: install a newer/m)
    })
  )

  it.scopedLive("names user namespaces that can't be made", () =>
    Effect.gen(function* () {
      // Below a namespace that allows none, the real bwrap fails for real.
      const script = `export PATH=/usr/bin:/bin; exec unshare --user --map-root-user bash -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec ${bwrap} "$@"' bwrap "$@"`
      const { exitCode, stdout } = yield* doctor(yield* Directory.make, fake(yield* programs, script))
      assert.strictEqual(exitCode, 1)
      assert.match(stdout, /^missing +user namespaces +/m)
      assert.match(stdout, /\n +to mend it: /)
    })
  )

  it.scopedLive("names the file and the path of a broken configuration, with all the rest in order", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.writeFileSync(`${home}/sandbox.json`, '{"policy":{"filesystem":{"blacklist":"x"}}}')
      const { exitCode, stdout } = yield* doctor(home)
      assert.strictEqual(exitCode, 1)
      assert.lengthOf(missing(stdout), 1)
      assert.match(
        stdout,
        /^missing +config +\/.*\/sandbox\.json: policy\.filesystem\.blacklist: it must be a list.*\n +to mend it: /m
      )
      const { checks, ok } = JSON.parse((yield* doctor(home, path, "--json")).stdout)
      assert.isFalse(ok)
      assert.deepStrictEqual(
        checks.filter((one: { status: string }) => one.status === "missing").map((one: { name: string }) => one.name),
        ["config"]
      )
      Fs.writeFileSync(`${home}/sandbox.json`, '{"enabled":false}')
      assert.match((yield* doctor(home)).stdout, /^ok +config +.*; it switches the sandbox OFF$/m)
    })
  )
})
