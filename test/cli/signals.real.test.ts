/** The built program under signals: nothing of it stays, neither processes nor files. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as ProcessTable from "../../src/session/ProcessTable.js"
import { commandLines, isRunning, start } from "../support/cli/Real.js"

let temporary = ""
beforeEach(() => {
  temporary = fs.mkdtempSync(path.join(os.tmpdir(), "signals-"))
})
afterEach(() => {
  for (const pid of mine()) process.kill(pid, "SIGKILL")
  fs.rmSync(temporary, { recursive: true, force: true })
})

/** The sleeps of this test that are left, by its directory in their environment. */
const mine = () =>
  ProcessTable.list()
    .map(({ pid }) => pid)
    .filter((pid) => {
      try {
        return (
          fs.readFileSync(`/proc/${pid}/environ`, "latin1").includes(`TMPDIR=${temporary}\0`) &&
          fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("sleep\0")
        )
      } catch {
        return false
      }
    })

let naps = 0
/** A duration that no other test sleeps for. */
const nap = () => `${1000 + (process.pid % 5000)}.${1000 + naps++}`

/** The sessions that are left, and whatever else lies in the directories for temporary files. */
const left = () => {
  const run = path.join(temporary, ".synapse", "run")
  return [
    ...fs.readdirSync(temporary).filter((name) => name !== ".synapse"),
    ...(fs.existsSync(run) ? fs.readdirSync(run) : [])
  ]
}

/** The cgroups of a program that are left. */
const cgroups = (pid: number | undefined) =>
  ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].flatMap((parent) =>
    fs.existsSync(parent) ? fs.readdirSync(parent).filter((name) => name.startsWith(`synapse-${pid}-`)) : []
  )

/** Looks until it is so, for 50 seconds; to look at all processes takes some milliseconds of CPU. */
const until = async (isSo: () => boolean): Promise<boolean> => {
  for (const end = performance.now() + 50_000; performance.now() < end; ) {
    if (isSo()) return true
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return false
}

/** Tests whether a signal still waits for a process: of two that wait, the one with the lower number comes first. */
const isPending = (pid: number | undefined, signal: number) => {
  try {
    const [, pending = "0"] = /^ShdPnd:\s*(\w+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "latin1")) ?? []
    return ((BigInt(`0x${pending}`) >> BigInt(signal - 1)) & 1n) === 1n
  } catch {
    return false
  }
}

const say = (id: string, command: string) => `${JSON.stringify({ id, name: "Bash", arguments: { command } })}\n`

/** Starts the program with a command that leaves sleeps in every way; continues when they all sleep. */
const begin = async (action: "exec" | "call", options: ReadonlyArray<string>) => {
  const [mine, job, daemon] = [nap(), nap(), nap()]
  const command =
    `echo begun; sleep ${job} & (setsid sleep ${daemon} </dev/null >/dev/null 2>&1 &); ` + `sleep ${mine}; echo more`
  const running = start([action, ...options, ...(action === "exec" ? [command] : [])], {
    HOME: temporary,
    TMPDIR: temporary
  })
  if (action === "call") running.child.stdin.write(say("1", command))
  const naps = [mine, job, daemon]
  const sleeps = () => commandLines().filter(([program, nap]) => program === "sleep" && naps.includes(nap ?? ""))
  assert.isTrue(await until(() => sleeps().length === 3))
  return { ...running, sleeps }
}

/** The signals that the program hears, by the numbers in its mask. */
const heard = (pid: number | undefined): ReadonlyArray<string> => {
  const [, mask = "0"] = /^SigCgt:\s*(\w+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "latin1")) ?? []
  return signals.filter((name) => ((BigInt(`0x${mask}`) >> BigInt(os.constants.signals[name] - 1)) & 1n) === 1n)
}

const signals = [
  "SIGHUP",
  "SIGINT",
  "SIGTERM",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
  "SIGVTALRM",
  "SIGABRT",
  "SIGXCPU",
  "SIGIO",
  "SIGPWR"
] as const

/** All modes hear the same signals, by one handler, and differ in what they end; of two signals in a row, the first counts. */
const modes = [
  ["exec", ["--no-sandbox"], [["SIGHUP"]]],
  ["exec", [], [["SIGPWR"], ["SIGTERM", "SIGINT"]]],
  ["call", ["--no-sandbox"], [["SIGTERM", "SIGINT"]]],
  ["call", [], [["SIGHUP"]]]
] as const

for (const [action, options, sent] of modes) {
  describe(`synapse ${[action, ...options].join(" ")}`, () => {
    for (const [signal, another] of sent) {
      it(`ignores a broken pipe, goes on after a stop, and leaves nothing at ${signal}, which its exit code tells`, async () => {
        const { child, ended, sleeps } = await begin(action, options)
        assert.deepStrictEqual(heard(child.pid), signals)
        child.kill("SIGPIPE")
        child.kill("SIGSTOP")
        child.kill("SIGCONT")
        await new Promise((resolve) => setTimeout(resolve, 50))
        assert.lengthOf(sleeps(), 3)
        child.kill(signal)
        if (another !== undefined) {
          assert.isTrue(await until(() => !isPending(child.pid, os.constants.signals[signal])))
          child.kill(another)
        }
        const { exitCode, stderr } = await ended
        assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 128 + os.constants.signals[signal], stderr: "" })
        // Two in a row do not wait for all of it.
        assert.isTrue(another === undefined ? sleeps().length === 0 : await until(() => sleeps().length === 0))
        assert.deepStrictEqual([left(), cgroups(child.pid)], [[], []])
      })
    }

    it("leaves nothing at a signal at any time of its start", async () => {
      for (const delay of action === "exec" ? [5, 50, 80, 120] : [5, 60, 100]) {
        const mine = nap()
        const command = `sleep ${mine}`
        const { child, ended } = start([action, ...options, ...(action === "exec" ? [command] : [])], {
          HOME: temporary,
          TMPDIR: temporary
        })
        child.stdin.on("error", () => {})
        if (action === "call") child.stdin.write(say("1", command))
        await new Promise((resolve) => setTimeout(resolve, delay))
        child.kill("SIGQUIT")
        await ended
        assert.isFalse(isRunning("sleep", mine))
        assert.deepStrictEqual([left(), cgroups(child.pid)], [[], []])
      }
    })

    // Without a sandbox, the supervisor clears it: `killed.real.test.ts`; exec leaves less than call.
    if (action === "call" && options.length === 0)
      it("clears what a killed program has left with the next start", async () => {
        const { child, ended, sleeps } = await begin(action, options)
        child.kill("SIGKILL")
        await ended
        assert.isTrue(await until(() => sleeps().length === 0))
        const next = start(["exec", "--no-sandbox", "true"], { HOME: temporary, TMPDIR: temporary })
        next.child.stdin.end()
        assert.strictEqual((await next.ended).exitCode, 0)
        assert.isTrue(await until(() => left().length === 0))
      })
  })
}

it.runIf(process.platform === "linux")("of two signals in a row, the second takes back too", async () => {
  const [config, mine] = [path.join(temporary, ".git/config"), nap()]
  const command = `trap '' INT TERM; git init -q; git config core.fsmonitor x; sleep ${mine}; sleep ${mine}`
  const { child, ended } = start(["exec", "--cwd", temporary, command])
  assert.isTrue(await until(() => isRunning("sleep", mine)))
  assert.include(fs.readFileSync(config, "utf8"), "fsmonitor")
  child.kill("SIGTERM")
  assert.isTrue(await until(() => !isPending(child.pid, os.constants.signals["SIGTERM"])))
  child.kill("SIGINT")
  assert.strictEqual((await ended).exitCode, 143)
  assert.notInclude(fs.readFileSync(config, "utf8"), "fsmonitor")
})
