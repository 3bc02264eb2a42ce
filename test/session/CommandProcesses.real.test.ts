/** Against a real bash: a cancel ends what its command has started, and nothing of an earlier command's. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Interruption from "../../src/session/internal/Interruption.js"
import * as ProcessTable from "../../src/session/ProcessTable.js"
import { inSession, type Subject, started } from "../support/Session.js"

const isAlive = (pid: number) => threadsOf(pid).some((thread) => !isZombie(pid, thread))

const threadsOf = (pid: number): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const isZombie = (pid: number, thread: string): boolean => {
  try {
    const stat = Fs.readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1")
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    return true
  }
}

/** The pids that a command has written into a file, one a line. */
const pidsIn = ({ directory }: Subject, name: string): Array<number> =>
  Fs.readFileSync(`${directory}/${name}`, "utf8").trim().split("\n").map(Number)

const cancel = (subject: Subject, command: string) =>
  Effect.gen(function* () {
    const { fiber } = yield* started(subject, `${command}; printf on; sleep 1000`)
    yield* Fiber.interrupt(fiber)
  })

const hasPython = ChildProcess.spawnSync("python3", ["--version"]).status === 0

/** Python that is a zombie by its state, while another thread of it goes on. */
const firstThreadEnds = `
import ctypes, os, threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)`

/** Every way to leave the shell behind; each writes its pid. */
const leaving: ReadonlyArray<readonly [name: string, command: string]> = [
  ["a job", "sleep 1000 & echo $! >>$pids"],
  ["a job that writes elsewhere", "sleep 1000 >/dev/null 2>&1 & echo $! >>$pids"],
  ["an orphan", "(bash -c 'echo $$ >>$pids; exec sleep 1000' &)"],
  ["a daemon", "(setsid bash -c 'echo $$ >>$pids; exec sleep 1000' </dev/null >/dev/null 2>&1 &)"],
  [
    "a daemon that clears its environment and its descriptors",
    `(setsid env -i bash -c 'for ((f = 0; f < 256; f++)); do eval "exec $f>&-"; done; echo $$ >>'$pids'; exec sleep 1000' &)`
  ],
  ["one that ignores all that can be ignored", "(trap '' INT TERM HUP; bash -c 'echo $$ >>$pids; exec sleep 1000' &)"],
  ["one that has stopped itself", "bash -c 'echo $$ >>$pids; kill -STOP $$; sleep 1000' & :"],
  ["a coprocess", "coproc { echo $BASHPID >>$pids; sleep 1000; }"],
  ["a substitution", "exec 9> >(echo $BASHPID >>$pids; sleep 1000)"],
  ...(hasPython
    ? [["one whose first thread has ended", `python3 -c '${firstThreadEnds}' & echo $! >>$pids; sleep 0.3`] as const]
    : [])
]

const waitFor = "until [[ -s $pids ]]; do sleep 0.01; done"

describe("CommandProcesses", () => {
  for (const [name, command] of leaving) {
    inSession(`ends ${name} with its command, and leaves it alone with another's`, (subject) =>
      Effect.gen(function* () {
        yield* subject.run("export pids=$PWD/mine")
        yield* cancel(subject, `${command}; ${waitFor}`)
        const mine = pidsIn(subject, "mine")
        assert.isNotEmpty(mine)
        assert.deepStrictEqual(mine.filter(isAlive), [])

        yield* subject.run("export pids=$PWD/earlier")
        yield* subject.run(`${command}; ${waitFor}`)
        yield* cancel(subject, "sleep 1000 &")
        const earlier = pidsIn(subject, "earlier")
        assert.deepStrictEqual(earlier.filter(isAlive), earlier)
      })
    )
  }

  inSession("ends what a timed out command has left to itself", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("export pids=$PWD/mine")
      yield* Effect.flip(subject.run(`${leaving[3]?.[1]}; ${waitFor}; sleep 1000`, { timeout: 400 }))
      const mine = pidsIn(subject, "mine")
      assert.isNotEmpty(mine)
      assert.deepStrictEqual(mine.filter(isAlive), [])
    })
  )

  inSession("leaves alone what earlier commands start meanwhile, orphans and daemons too", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("export pids=$PWD/server; mkfifo go")
      yield* subject.run(
        "{ while read -r; do (setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >>$pids); " +
          "(bash -c 'echo $$ >>$pids; exec sleep 1000' &); sleep 1000 & echo $! >>$pids; done <>go; } &"
      )
      yield* cancel(subject, "echo >go; until [[ $(wc -l <$pids) = 3 ]]; do sleep 0.01; done 2>/dev/null")
      const workers = pidsIn(subject, "server")
      assert.strictEqual(workers.length, 3)
      assert.deepStrictEqual(workers.filter(isAlive), workers)
    })
  )

  inSession("tells a job from the next command's, however soon that comes", (subject) =>
    Effect.gen(function* () {
      for (let i = 0; i < 20; i++) {
        const { stdout } = yield* subject.run("sleep 1000 & echo $!")
        yield* cancel(subject, "sleep 1000 &")
        assert.isTrue(isAlive(Number(stdout)))
      }
    })
  )

  inSession("does without marks where a command has made them impossible: by descent", (subject) =>
    Effect.gen(function* () {
      const { stdout } = yield* subject.run("ulimit -HSR 1; sleep 1000 & echo $!; export pids=$PWD/mine")
      yield* Effect.sleep(30)
      yield* cancel(subject, `${leaving[0]?.[1]}; ${leaving[1]?.[1]}; until [[ $(wc -l <$pids) = 2 ]]; do :; done`)
      const mine = pidsIn(subject, "mine")
      assert.strictEqual(mine.length, 2)
      assert.deepStrictEqual(mine.filter(isAlive), [])
      assert.isTrue(isAlive(Number(stdout)))
    })
  )

  inSession("ends a crowd that forks while it is ended", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("export pids=$PWD/mine")
      yield* cancel(
        subject,
        "f() { trap '' TERM; echo $BASHPID >>$pids; while (( $(wc -l <$pids) < 150 )); do (f &); done; sleep 1000; }; " +
          "(f &); until (( $(wc -l <$pids) > 80 )); do :; done 2>/dev/null"
      )
      const mine = pidsIn(subject, "mine")
      assert.isAbove(mine.length, 80)
      assert.deepStrictEqual(mine.filter(isAlive), [])
    })
  )

  inSession("hides the mark from nobody, and makes a new one for every command", ({ run }) =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      for (let i = 0; i < 5; i++) seen.add((yield* run("ulimit -SR")).stdout)
      yield* run("exit 3")
      seen.add((yield* run("ulimit -SR")).stdout)
      assert.strictEqual(seen.size, 6)
      for (const one of seen) assert.match(one, /^\d{18}\n$/)
    })
  )

  it("S48: knows the session of a mark, and no other's", () => {
    const [one, other] = ["0123456f-1111-4111-8111-111111111111", "1123456f-1111-4111-8111-111111111111"]
    const mark = ProcessTable.make(one)
    assert.match(BigInt(mark).toString(16), /^40123456[0-9a-f]{7}$/)
    assert.isTrue(ProcessTable.isOfSession(mark, one))
    assert.isFalse(ProcessTable.isOfSession(mark, other))
    assert.isFalse(ProcessTable.isOfSession(undefined, one))
    assert.isUndefined(ProcessTable.of(process.pid))
    assert.isUndefined(ProcessTable.of(2 ** 22 + 1))
  })

  it("finds nothing where a shell has started nothing", () => {
    const since = ProcessTable.ticksAt(performance.now()) + 1000
    const none = {
      shell: process.pid,
      sessionId: crypto.randomUUID(),
      since,
      marks: new Set<string>(),
      older: new Set<number>()
    }
    assert.deepStrictEqual(Interruption.list(none), [])
  })
})
