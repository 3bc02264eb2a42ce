/** The manager over this machine's own sandbox, with real shells in it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Cgroup from "../../src/sandbox/platform/linux/start/Cgroup.js"
import * as Directory from "../support/sandbox/Directory.js"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"
import { notices } from "../support/Told.js"

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

export const local = (title: string, ground: string, isSecond = false): void => {
  const once = it.live.skipIf(isSecond)
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    it.live("S60: keeps the directory and the variables from command to command", () =>
      sandboxed(({ execute }) =>
        Effect.gen(function* () {
          yield* execute("cd /tmp && export FOO=bar")
          assert.strictEqual((yield* execute("pwd")).stdout, "/tmp\n")
          assert.strictEqual((yield* execute("echo $FOO")).stdout, "bar\n")
        })
      )
    )

    it.live("keeps background processes, /dev/shm and /var/tmp when a command ends its shell", () =>
      sandboxed(({ execute }) =>
        Effect.gen(function* () {
          yield* execute("echo shm >/dev/shm/file; echo tmp >/var/tmp/file; mkdir -p kept")
          const { stdout: pid } = yield* execute("sleep 2201 >/dev/null 2>&1 & echo $!")
          for (const command of ["exit 1", "set -e; false", "exec true", "kill -9 $$"]) {
            yield* execute(command)
            const { stdout } = yield* execute(`cat /dev/shm/file /var/tmp/file; kill -0 ${pid.trim()} && echo there`)
            assert.strictEqual(stdout, "shm\ntmp\nthere\n", command)
          }
          assert.deepInclude(yield* execute("f=.en; cat ${f}v"), hidden)
        })
      )
    )

    once("keeps a subshell in the background, which has copies of the shell's own descriptors", () =>
      sandboxed(({ execute }) =>
        Effect.gen(function* () {
          for (const [at, form] of ["(loop) &", "{ loop; } & disown", "loop &"].entries()) {
            const loop = `loop() { while [ ! -e go${at} ]; do sleep .05; done; echo end >end${at}; }`
            yield* execute(`${loop}; ${form.replace("loop", "loop >/dev/null 2>&1")}\nexit`)
            // The next shell is there.
            const until = `for ((i = 0; i < 200; i++)); do [ -e end${at} ] && break; sleep .05; done; cat end${at}`
            assert.strictEqual((yield* execute(`: >go${at}; ${until}`)).stdout, "end\n", form)
          }
        })
      )
    )

    once("tells of the jobs that a command has killed with their sandbox", () =>
      sandboxed(({ execute }, { jobs }) =>
        Effect.gen(function* () {
          yield* execute("sleep 2202 >/dev/null 2>&1 &")
          jobs.takeNews()
          yield* execute("kill -9 -1; sleep 1")
          yield* execute("echo on")
          yield* Effect.repeat(jobs.status(1), {
            until: ({ state }) => state !== "running",
            schedule: Schedule.spaced("20 millis")
          })
        })
      )
    )

    once("goes on in the directory where a command has killed the sandbox, and tells what is lost", () =>
      sandboxed(({ execute }, { project }) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${project}/sub`)
          for (let i = 0; i < 3; i++) {
            yield* execute(`cd ${project}/sub; kept=1`)
            const killed = yield* execute(
              ["kill -9 $PPID; sleep 1", "kill -9 $PPID", "kill -KILL $PPID; true"][i] ?? ""
            )
            if (i === 0) assert.strictEqual(killed.exitCode, 137)
            const next = yield* execute('pwd; echo "<$kept>"')
            // The shell may hear of the end of its input before the kernel kills it, and then hands on its state.
            const said = [...(notices(killed) ?? []), ...(notices(next) ?? [])]
            const isKept = said.length === 0
            assert.strictEqual(next.stdout, `${project}/sub\n<${isKept ? 1 : ""}>\n`)
            if (!isKept) assert.match(said.join(), /^The shell ended without handing on its state/)
          }
        })
      )
    )

    once("S61: has neither after it was built anew", () =>
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
          assert.match(blockedReason ?? "", new RegExp(`^sandbox: ${outside}/file is read-only\\.`))
          assert.notProperty(yield* execute("false"), "blockedReason")
        })
      )
    )

    once("S66: says of git in another repository that it is read-only, also where git names no path", () =>
      sandboxed(({ execute }, { outside, project }) =>
        Effect.gen(function* () {
          const git = (cwd: string, words: string) => ChildProcess.execFileSync("git", words.split(" "), { cwd })
          for (const one of [project, `${outside}/other`]) {
            git(outside, `init -q ${one}`)
            git(one, "-c user.name=a -c user.email=a commit -qm x --allow-empty")
          }
          for (const command of [
            "git -C ../other tag v1",
            "echo 1 >f; git -C ../other hash-object -w $PWD/f",
            "(cd ../other; git -c user.name=a -c user.email=a commit -qm x --allow-empty)",
            "git push -q ../other HEAD:refs/heads/x",
            "git clone -q . ../more"
          ]) {
            const { blockedReason } = yield* execute(command)
            assert.match(blockedReason ?? "", /^sandbox: \S*\/(?:other|more)\S* is read-only\./, command)
          }
        })
      )
    )

    once("S57: runs nothing twice: not what ended its own shell, ran out of its time, or was interrupted", () =>
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

    it.live("ends what uses more memory than sandbox.json gives, and names the setting, or starts nothing", () =>
      sandboxed(({ execute }, { jobs, outside }) =>
        Effect.gen(function* () {
          const canLimit = Effect.map(Cgroup.acquire({ memory: 2 ** 30 }), ({ files }) => files.length > 0)
          const isLimited = yield* Effect.scoped(canLimit)
          Fs.writeFileSync(`${outside}/home/sandbox.json`, '{ "policy": { "limits": { "memory": 96 } } }')
          if (!isLimited) {
            const { message } = yield* Effect.flip(execute("true"))
            return assert.match(message, /no sandbox: limits\.memory in sandbox\.json needs a cgroup of memory/)
          }
          const hog = `perl -e '$_ = "x" x 2e8; print length'`
          const killed = yield* execute(`V=kept; ${hog}`)
          const said = "The kernel killed what used most memory: commands have 96 MiB."
          assert.deepStrictEqual([killed.exitCode, killed.stdout], [137, ""])
          assert.include(notices(killed)?.join(), `${said} More is given by "policy": { "limits": { "memory": 192 } }`)
          const next = yield* execute(`echo $V; head -c 90M /dev/zero >/dev/shm/x; (sleep 0.1; ${hog}) &`)
          assert.deepStrictEqual([next.stdout, notices(next)], ["kept\n", undefined])
          assert.include(next.stderr, "No space left on device")
          yield* jobs.wait([1])
          assert.include(notices(yield* execute("true"))?.join(), said)
        })
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

    it.live("masks what has appeared under a glob, by and by, or at once where the last look is long ago", () =>
      sandboxed(({ execute }, { project }) =>
        Effect.gen(function* () {
          yield* execute("kept=1; f=.en")
          Fs.mkdirSync(`${project}/new`)
          Fs.writeFileSync(`${project}/new/.env`, "TOKEN=2\n")
          assert.deepInclude(yield* untilHidden(execute("cat new/${f}v")), hidden)
          yield* Effect.sleep("3 seconds")
          Fs.mkdirSync(`${project}/other`)
          Fs.writeFileSync(`${project}/other/.env`, "TOKEN=3\n")
          assert.deepInclude(yield* execute("cat other/${f}v"), hidden)
          assert.strictEqual((yield* execute("echo $kept")).stdout, "1\n")
        })
      )
    )
  })
}
