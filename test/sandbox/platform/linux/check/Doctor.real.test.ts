import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Doctor from "../../../../../src/sandbox/platform/linux/check/Doctor.js"
import * as LinuxPlatform from "../../../../../src/sandbox/platform/linux/LinuxPlatform.js"
import * as Launch from "../../../../../src/sandbox/platform/linux/start/Launch.js"
import * as Programs from "../../../../../src/sandbox/platform/linux/start/Programs.js"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "doctor-test-")))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)

/** A program of that name, in the only directory on the PATH. */
const fake = (directory: string, name: string, script: string) => {
  Fs.writeFileSync(Path.join(directory, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  return directory
}

const settings = (directory: string, values: Readonly<Record<string, number>>) => {
  for (const [name, value] of Object.entries(values)) {
    const path = Path.join(directory, "sys", name)
    Fs.mkdirSync(Path.dirname(path), { recursive: true })
    Fs.writeFileSync(path, `${value}\n`)
  }
}

const required = (report: Doctor.Report) => report.checks.filter((check) => check.required)

const failing = (report: Doctor.Report) => {
  assert.isUndefined(report.level)
  return report.checks.map(({ detail, name, ok, remedy }) => [name, ok, detail, remedy !== ""])
}

const bwrap = Programs.find(process.env["PATH"] ?? "").bwrap

/** Real namespaces can't be made below one that allows none. */
const withoutNamespaces = `exec unshare --user --map-root-user bash -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec ${bwrap} "$@"' bwrap "$@"`

describe.skipIf(process.platform !== "linux" || bwrap === undefined)("doctor", () => {
  it.live("finds nothing wrong here", () =>
    Effect.gen(function* () {
      const report = yield* Doctor.examine(Programs.find(process.env["PATH"] ?? ""))
      assert.isUndefined(Doctor.refusal(report))
      assert.deepStrictEqual(
        required(report).map(({ name, ok }) => [name, ok]),
        [
          ["bwrap", true],
          ["user namespaces", true],
          ["seccomp", true]
        ]
      )
      assert.match(report.checks[0]?.detail ?? "", /bwrap, version \d+\.\d+/)
    })
  )

  it.live("S68: refuses without bwrap, and does not run unsandboxed", () =>
    Effect.gen(function* () {
      const report = yield* Doctor.examine(Programs.find("/nowhere:relative"))
      assert.deepStrictEqual(failing(report), [["bwrap", false, Doctor.noBubblewrap.detail, true]])
      const directory = yield* temporary
      const platform = yield* LinuxPlatform.make()
      const error = yield* Effect.flip(
        platform.wrap({
          policy: { cwd: directory, whitelist: [], blacklist: [], readonly: [], allowNetwork: false },
          shell: { program: "/bin/bash", args: [] },
          directory: Path.join(directory, "sessions", "session"),
          environment: { PATH: "/nowhere" }
        })
      )
      assert.strictEqual(error.kind, "sandbox")
      assert.match(error.message, /bwrap is required.*apt install bubblewrap.*--no-sandbox/)
      assert.deepStrictEqual(Fs.readdirSync(directory), [])
    }).pipe(Effect.scoped)
  )

  it.live("does not take a bwrap that commands could have written", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const path = fake(directory, "bwrap", "exit 0")
      assert.strictEqual(Programs.find(path).bwrap, Path.join(directory, "bwrap"))
      assert.isUndefined(Programs.find(path, [directory]).bwrap)
      assert.strictEqual(Programs.find(`${path}:${process.env["PATH"]}`).bwrap, bwrap)
      Fs.symlinkSync(directory, `${directory}-link`)
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(`${directory}-link`)))
      assert.isUndefined(Programs.find(`${directory}-link`, [directory]).bwrap)
    }).pipe(Effect.scoped)
  )

  it.live("names a bwrap that is too old", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const script = `[[ $1 == --version ]] && { echo bubblewrap 0.6.1; exit; }; echo "bwrap: Unknown option --disable-userns" >&2; exit 1`
      const report = yield* Doctor.examine(Programs.find(fake(directory, "bwrap", script)))
      assert.deepStrictEqual(failing(report), [
        ["bwrap version", false, "bwrap 0.6.1 is too old: 0.8.0 is needed, for --disable-userns and --size", true]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("names user namespaces that are switched off", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const programs = Programs.find(fake(directory, "bwrap", withoutNamespaces))
      const [[name, , detail] = []] = failing(yield* Doctor.examine(programs))
      assert.strictEqual(name, "user namespaces")
      assert.match(String(detail), /ENOSPC|No space left/)
      settings(directory, { "user/max_user_namespaces": 0 })
      assert.deepStrictEqual(failing(yield* Doctor.examine(programs, directory)), [
        ["user namespaces", false, "user namespaces are switched off (user.max_user_namespaces is 0)", true]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("does without the programs that open the door", () =>
    Effect.gen(function* () {
      const report = yield* Doctor.examine({ ...Programs.find(process.env["PATH"] ?? ""), nsenter: undefined })
      assert.strictEqual(report.level, "single")
      assert.deepStrictEqual(
        report.checks
          .filter(({ name }) => ["live changes", "hosts"].includes(name))
          .map(({ ok, remedy, required }) => [ok, required, remedy]),
        [
          [false, false, "install util-linux"],
          [false, false, ""]
        ]
      )
    })
  )

  it.live("survives programs that hang, say nothing or are none", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const silent = yield* Doctor.examine(Programs.find(fake(directory, "bwrap", "exit 3")))
      assert.deepStrictEqual(failing(silent), [["bwrap", false, "bwrap failed: it said nothing", false]])
      Fs.writeFileSync(Path.join(directory, "bwrap"), "\0\0\0", { mode: 0o755 })
      const none = yield* Doctor.examine(Programs.find(directory))
      assert.strictEqual(failing(none)[0]?.[0], "bwrap")
    }).pipe(Effect.scoped)
  )
})

describe("a cause", () => {
  const facts: Doctor.Facts = {
    isRoot: false,
    maxUserNamespaces: 1000,
    unprivilegedClone: undefined,
    apparmorRestricts: undefined,
    inContainer: false,
    inSandbox: false
  }
  const said =
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces."
  const name = (words: string, more: Partial<Doctor.Facts> = {}, version = "0.8.0") =>
    Doctor.explain(words, { version, facts: { ...facts, ...more } })

  it("is told by what the kernel allows", () => {
    assert.match(name(said, { apparmorRestricts: 1 }).detail, /AppArmor/)
    assert.match(name(said, { unprivilegedClone: 0 }).detail, /for root only/)
    assert.match(name(said, { maxUserNamespaces: 0 }).detail, /switched off/)
    assert.match(
      name("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", { inContainer: true }).detail,
      /container/
    )
    assert.strictEqual(
      Doctor.sentence(name(said, { inContainer: true, inSandbox: true })),
      "no sandbox: this runs in a sandbox already, which allows no second one. To mend it: use --no-sandbox here, since the sandbox around it holds its commands as well."
    )
    assert.match(name(said).detail, /^bwrap could not make its namespaces \(No permissions/)
  })

  it("is told by bubblewrap's words, as they are where they say nothing known", () => {
    assert.strictEqual(name("bwrap: Unknown option --size", {}, "0.5.0").name, "bwrap version")
    assert.strictEqual(name("anything", {}, "0.4.0").name, "bwrap version")
    assert.strictEqual(name("bwrap: --disable-userns not supported in setuid mode").name, "bwrap setuid")
    assert.strictEqual(
      name(`mount: /x/.env: no rights.\n${Launch.unmasked}\nbwrap: prctl(PR_SET_SECCOMP): Invalid argument`).detail,
      "not all that is blacklisted could be masked: mount: /x/.env: no rights."
    )
    assert.strictEqual(name("bwrap: prctl(PR_SET_SECCOMP): Invalid argument").name, "seccomp")
    assert.strictEqual(
      name("bwrap: Can't find source path /x: No such file").detail,
      "bwrap failed: Can't find source path /x: No such file"
    )
    const shell = name("bwrap: execvp /bin/nosh: No such file or directory")
    assert.strictEqual(
      Doctor.sentence(shell),
      "no sandbox: the shell /bin/nosh can't be run: No such file or directory. To mend it: take back the rule that hides it, or what it needs, or name another bash in SYNAPSE_SHELL."
    )
  })
})
