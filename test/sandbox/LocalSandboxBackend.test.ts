/** The manager over this machine's own sandbox, with real shells in it. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as LocalSandboxProvider from "../../src/sandbox/LocalSandboxProvider.js"
import * as LinuxPlatform from "../../src/sandbox/linux/LinuxPlatform.js"
import * as Permission from "../../src/sandbox/Permission.js"
import type { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import type { SandboxProvider } from "../../src/sandbox/SandboxProvider.js"
import * as SandboxSettings from "../../src/sandbox/SandboxSettings.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as Directory from "./Directory.js"
import { type Options, withManager } from "./Managed.js"

type Manager = Context.Tag.Service<SandboxManager>

interface Place {
  /** The project: whitelisted, and the current directory. */
  readonly project: string
  /** Its parent, and `home`'s, which is not. */
  readonly outside: string
  readonly provider: SandboxProvider
}

/** Root's sandboxes have a /tmp of their own, and others can't write anywhere else. */
const place = Effect.gen(function* () {
  const outside = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(`${Directory.isRoot ? "/srv" : "/var/tmp"}/synapse-test-`))),
    (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
  )
  for (const name of ["project", "home", "user", "user/.ssh"]) Fs.mkdirSync(`${outside}/${name}`)
  Fs.writeFileSync(`${outside}/user/.ssh/id_rsa`, "key\n")
  Fs.writeFileSync(`${outside}/project/.env`, "TOKEN=1\n")
  const provider = yield* Effect.provide(
    LocalSandboxProvider.make,
    Layer.mergeAll(LinuxPlatform.layer, SandboxSettings.layer({ userHome: `${outside}/user` }), SessionSettings.layer())
  )
  return { project: `${outside}/project`, outside, provider }
})

const sandboxed = <A, E>(
  use: (manager: Manager, place: Place) => Effect.Effect<A, E>,
  options: Partial<Options> = {},
  blacklist: ReadonlyArray<string> = []
) =>
  Effect.scoped(
    Effect.flatMap(place, (at) =>
      withManager(
        at.provider,
        {
          home: `${at.outside}/home`,
          cwd: at.project,
          settings: { userHome: `${at.outside}/user`, temporary: `${at.outside}/tmp`, blacklist },
          ...options
        },
        (manager) => use(manager, at)
      )
    )
  )

/** Allows what is asked for: `answers` in order, then nothing. */
const allowing = (...answers: ReadonlyArray<Permission.Answer>) => {
  const left = [...answers]
  return { permission: Permission.layerCallback(() => Effect.sync(() => left.shift() ?? "deny")) }
}

/** Masks are looked at now and then: a command that comes too early runs again. */
const untilHidden = <A extends { readonly exitCode: number }, E>(command: Effect.Effect<A, E>) =>
  Effect.repeat(Effect.zipLeft(command, Effect.sleep("50 millis")), { until: ({ exitCode }) => exitCode !== 0 })

const hidden = { stdout: "", blocked: true, blockedRule: "**/.env" }

const processesAt = (path: string) =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          Fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(path) ||
          Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(path)
        )
      } catch {
        return false
      }
    })

describe.skipIf(process.platform !== "linux")("the sandbox of this machine", () => {
  it.live("S60: keeps the directory and the variables from command to command", () =>
    sandboxed(({ execute }) =>
      Effect.gen(function* () {
        yield* execute("cd /tmp && export FOO=bar")
        assert.strictEqual((yield* execute("pwd")).stdout, "/tmp\n")
        assert.strictEqual((yield* execute("echo $FOO")).stdout, "bar\n")
      })
    )
  )

  it.live("S61: has neither after it was built anew", () =>
    sandboxed((manager, { outside, project }) =>
      Effect.gen(function* () {
        Fs.mkdirSync(`${outside}/extra`)
        yield* manager.execute("cd /tmp && export FOO=bar")
        yield* manager.addRuntimeWhitelist(`${outside}/extra`)
        assert.strictEqual((yield* manager.execute('pwd; echo "[$FOO]"')).stdout, `${project}\n[]\n`)
        yield* manager.execute(`echo x > ${outside}/extra/file`)
        assert.strictEqual(Fs.readFileSync(`${outside}/extra/file`, "utf8"), "x\n")
      })
    )
  )

  it.live("S64: blocks what is on both lists before it runs, and leaves the session alone", () =>
    sandboxed(
      (manager, { project }) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${project}/both`)
          yield* manager.addRuntimeWhitelist(`${project}/both`)
          yield* manager.execute("kept=1")
          const error = yield* Effect.flip(manager.execute(`touch ran; kept=2; echo x > ${project}/both/file`))
          assert.deepInclude({ ...error }, { _tag: "Blocked", rule: "**/both", resource: "**/both" })
          assert.strictEqual((yield* manager.execute("echo $kept")).stdout, "1\n")
          assert.deepStrictEqual(Directory.list(project), [".env", "both"])
        }),
      {},
      ["**/both"]
    )
  )

  it.live("S65: blocks a child's reading, and the resource is the rule", () =>
    sandboxed(({ execute }, { outside }) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(execute(`bash -c "cat ${outside}/user/.ssh/id_rsa"`))
        assert.deepInclude({ ...error }, { _tag: "Blocked", resource: "~/.ssh", rule: "~/.ssh" })
        const hidden = yield* execute(`f=${outside}/user/.ss; bash -c "cat $f\\h/id_rsa"`)
        assert.deepInclude(hidden, { stdout: "", blocked: true, blockedResource: "~/.ssh", blockedRule: "~/.ssh" })
      })
    )
  )

  it.live("S66: says of a denial what, by which rule, and why", () =>
    sandboxed(({ execute }, { outside }) =>
      Effect.gen(function* () {
        const { blockedReason, ...result } = yield* execute(`cd ${outside}; f=file; echo x > $f`)
        assert.deepInclude(result, {
          exitCode: 1,
          blocked: true,
          blockedResource: `${outside}/file`,
          blockedRule: "not whitelisted"
        })
        assert.match(blockedReason ?? "", new RegExp(`^Blocked by the sandbox: writing ${outside}/file\n`))
        assert.notProperty(yield* execute("false"), "blockedReason")
      })
    )
  )

  it.live("S57: runs nothing twice: not what ended its own shell, ran out of its time, or was interrupted", () =>
    sandboxed(({ execute }, { project }) =>
      Effect.gen(function* () {
        for (const end of ["exit 3", "kill $$", "kill -9 $$", "exec true"])
          yield* Effect.either(execute(`echo x >> ran; ${end}`))
        assert.strictEqual(
          (yield* Effect.flip(execute("echo x >> ran; sleep 60", { timeout: 200 })))._tag,
          "ExecutionFailed"
        )
        const fiber = yield* Effect.fork(execute("echo x >> ran; sleep 60"))
        yield* Effect.repeat(
          Effect.sync(() => Fs.readFileSync(`${project}/ran`, "utf8").length),
          { until: (length) => length >= 12, schedule: Schedule.spaced("10 millis") }
        )
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* execute("cat ran")).stdout, "x\n".repeat(6))
      })
    )
  )

  it.live("S67: leaves no process, directory or control group", () =>
    Effect.gen(function* () {
      const cgroups = () =>
        Fs.existsSync("/sys/fs/cgroup")
          ? Fs.readdirSync("/sys/fs/cgroup", { recursive: true, encoding: "utf8" }).filter((path) =>
              path.includes(`synapse-${process.pid}`)
            )
          : []
      let [at, session] = ["", ""]
      yield* sandboxed(({ execute, getSandbox }, { outside, project }) =>
        Effect.gen(function* () {
          at = outside
          session = (yield* execute("echo $SYNAPSE_SESSION; setsid sleep 1000 & disown")).stdout.trim()
          assert.notStrictEqual(session, "")
          assert.isNotEmpty(processesAt(project))
          yield* (yield* getSandbox(project)).dispose
          assert.deepStrictEqual(processesAt(outside), [])
          assert.deepStrictEqual(cgroups(), [])
        })
      )
      assert.isFalse(Fs.existsSync(at))
    })
  )

  it.live("allow_once: opens a file for its command only, and the shell goes on", () =>
    sandboxed(
      ({ execute }) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* execute("cat .env")).stdout, "TOKEN=1\n")
          assert.strictEqual((yield* Effect.flip(execute("cat .env")))._tag, "Blocked")
          yield* execute("kept=1; f=.en")
          assert.deepInclude(yield* execute("cat ${f}v"), { stdout: "", blocked: true, blockedRule: "**/.env" })
          assert.strictEqual((yield* execute("echo $kept; cat .env")).stdout, "1\nTOKEN=1\n")
          const again = yield* execute("cat ${f}v")
          assert.deepInclude(again, { stdout: "", blocked: true })
        }),
      allowing("allow_once", "deny", "deny", "allow_once")
    )
  )

  it.live("allow_session: a secret of a hidden directory is open from then on, and nothing beside it", () =>
    sandboxed(
      ({ execute }, { outside }) =>
        Effect.gen(function* () {
          const ssh = `${outside}/user/.ssh`
          Fs.writeFileSync(`${ssh}/other`, "other\n")
          for (let time = 0; time < 3; time++) {
            const { stdout } = yield* execute(`cat ${ssh}/id_rsa; echo $((++times))`)
            assert.strictEqual(stdout, `key\n${time + 1}\n`)
            // Long enough for the masks to be looked at before the next command.
            yield* Effect.sleep("1500 millis")
          }
          assert.strictEqual((yield* Effect.flip(execute(`cat ${ssh}/other`)))._tag, "Blocked")
          assert.deepInclude(yield* execute(`d=${outside}/user; cat $d/.ssh/other`), { stdout: "", exitCode: 1 })
        }),
      allowing("allow_session")
    )
  )

  it.live("keeps the result of a write that was denied; allowed, the next one is not, and the shell goes on", () =>
    sandboxed(
      ({ execute }, { outside }) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${outside}/data`)
          yield* execute("kept=1")
          for (const answer of ["allow_once", "allow_permanent"]) {
            const command = `echo before; mkdir ${outside}/data/${answer}`
            const first = yield* execute(command)
            assert.deepInclude(first, { stdout: "before\n", blocked: true })
            assert.match(first.notices?.join() ?? "", answer === "allow_once" ? /once/ : /run the command again/)
          }
          assert.deepStrictEqual(Directory.list(`${outside}/data`), [])
          const config = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8"))
          assert.deepStrictEqual(config.policy.filesystem.whitelist, [`${outside}/data/allow_permanent`])
        }),
      allowing("allow_once", "allow_permanent")
    )
  )

  it.live("masks again what the host has replaced between two commands", () =>
    sandboxed(({ execute }, { project }) =>
      Effect.gen(function* () {
        yield* execute("kept=1; f=.en")
        for (let time = 0; time < 3; time++) {
          Fs.writeFileSync(`${project}/next`, "TOKEN=new\n")
          Fs.renameSync(`${project}/next`, `${project}/.env`)
          assert.deepInclude(yield* untilHidden(execute("cat ${f}v")), hidden)
        }
        assert.strictEqual((yield* execute("echo $kept")).stdout, "1\n")
      })
    )
  )

  it.live("masks what has appeared under a glob, by and by", () =>
    sandboxed(({ execute }, { project }) =>
      Effect.gen(function* () {
        yield* execute("kept=1; f=.en")
        Fs.mkdirSync(`${project}/new`)
        Fs.writeFileSync(`${project}/new/.env`, "TOKEN=2\n")
        assert.deepInclude(yield* untilHidden(execute("cat new/${f}v")), hidden)
        assert.strictEqual((yield* execute("echo $kept")).stdout, "1\n")
      })
    )
  )
})
