/** Against a real bash: what a command leaves running is a job, with its output and its exit code. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { JobStatus } from "../../src/domain/JobStatus.js"
import { assertKept, descriptors, inSession, prepare, result, type Subject } from "../support/Session.js"
import { notices } from "../support/Told.js"

/** Runs commands that do nothing until a job has ended, and gives what is told of it then. */
const end = ({ jobs, run }: Subject) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 3000; tries++) {
      yield* run("true")
      const told = jobs.takeNews().find(({ state }) => state !== "running")
      if (told !== undefined) return told
      yield* Effect.sleep(10)
    }
    return assert.fail("no job has ended")
  })

const has = ({ exitCode, state }: JobStatus) => [state, exitCode]

const later = (then: string) => `until [[ -e go ]]; do sleep 0.01; done; ${then}`

describe("jobs", () => {
  inSession("print into a log of their own, both streams, and end with their exit code", (subject) =>
    Effect.gen(function* () {
      const { jobs, run } = subject
      yield* prepare(subject)
      yield* run(`{ ${later("echo one; echo two >&2; exit 5")}; } &`)
      assert.deepStrictEqual(
        jobs.takeNews().map(({ id, state }) => [id, state]),
        [[1, "running"]]
      )
      assert.deepStrictEqual(yield* run("touch go; echo mine"), result({ stdout: "mine\n" }))
      const { last, unread, ...ended } = yield* end(subject)
      assert.deepStrictEqual([...has(ended as JobStatus), unread], ["exited", 5, 2])
      assert.oneOf(last, ["one", "two"])
      assert.strictEqual((yield* jobs.output(1)).split("\n").toSorted().join(), ",one,two")
      assert.strictEqual(yield* jobs.output(1), "")
      assert.deepStrictEqual(jobs.takeNews(), [])
      yield* assertKept(subject)
    })
  )

  inSession("are found however they were started, also where they hold no output", (subject) =>
    Effect.gen(function* () {
      const starts = [
        "sleep 3001 >/dev/null 2>&1 &",
        "nohup sleep 3001 >/dev/null 2>&1 &",
        "setsid sleep 3001 &",
        "(sleep 3001 &)",
        "bash -c 'sleep 3001 & disown'",
        "(cd /; (setsid sleep 3001 0<&- 1>&- 2>&- &) &); true",
        "coproc { sleep 3001; }"
      ]
      for (const [at, start] of starts.entries()) {
        yield* subject.run(start)
        assert.deepStrictEqual(
          subject.jobs.takeNews().map(({ id, state }) => [id, state]),
          [[at + 1, "running"]],
          start
        )
      }
    })
  )

  inSession("are found a moment later where a program has put itself in the background", (subject) =>
    Effect.gen(function* () {
      const daemon = "require('child_process').spawn('sleep', ['3011'], { detached: true, stdio: 'ignore' }).unref()"
      yield* subject.run(`node -e "${daemon}"`)
      for (let tries = 0; (yield* subject.jobs.list).length === 0 && tries < 1000; tries++) yield* Effect.sleep(10)
      assert.match((yield* subject.jobs.status(1)).name, /^node -e /)
      assert.strictEqual((yield* subject.jobs.look(1)).processes, 1)
      yield* subject.jobs.stop(1)
      assert.deepStrictEqual(has(yield* subject.jobs.status(1)), ["ended", undefined])
    })
  )

  inSession("end with the exit code of what `&` started last, and never with one that is not known", (subject) =>
    Effect.gen(function* () {
      for (const [start, state, code] of [
        [`{ ${later("exit 3")}; } & { ${later("exit 4")}; } &`, "exited", 4],
        [`{ ${later("true")}; } &`, "exited", 0],
        [`{ ${later("exit 127")}; } &`, "exited", 127],
        [`{ ${later("exit 2")}; } | cat &`, "exited", 0],
        [`{ ${later("kill -9 $BASHPID")}; } &`, "exited", 137],
        [`{ ${later("exit 3")}; } & disown`, "ended", undefined],
        [`({ ${later("exit 3")}; } &)`, "ended", undefined],
        [`setsid bash -c '${later("exit 6")}' &`, "exited", 6]
      ] as const) {
        yield* subject.run(`rm -f go; ${start}`)
        yield* subject.run("touch go")
        assert.deepStrictEqual(has(yield* end(subject)), [state, code], start)
      }
      yield* subject.run(`rm go; { ${later("exit 3")}; } & P=$!`)
      yield* subject.run("touch go; wait $P")
      assert.deepStrictEqual(has(yield* end(subject)), ["exited", 3])
      assert.deepStrictEqual(yield* subject.run("wait $P"), result({ exitCode: 3 }))
    })
  )

  inSession("leave the shell's state alone: $?, errexit, nounset, the user's traps", (subject) =>
    Effect.gen(function* () {
      const { jobs, run } = subject
      yield* run("set -u; trap 'echo child >>log' CHLD")
      yield* run(`{ ${later("exit 3")}; } & (exit 7)`)
      // No command looks at it: the idle shell is asked.
      setTimeout(() => Fs.writeFileSync(`${subject.directory}/go`, ""), 50)
      yield* jobs.wait([1])
      assert.deepStrictEqual(yield* run("echo $? ${!:+job}"), result({ stdout: "7 job\n" }))
      assert.deepStrictEqual(has(yield* jobs.status(1)), ["exited", 3])
      yield* run(`rm go; trap - CHLD; set -e; { ${later("exit 4")}; } &`)
      yield* run("touch go")
      assert.deepStrictEqual(has(yield* end(subject)), ["exited", 4])
      assert.deepStrictEqual(yield* run("set +eu; echo on"), result({ stdout: "on\n" }))
    })
  )

  inSession("outlive their shell, whose end takes their exit code along, but not their output", (subject) =>
    Effect.gen(function* () {
      yield* subject.run(`{ ${later("echo late; exit 3")}; } &`)
      assert.strictEqual((yield* subject.run("kill -9 $$")).exitCode, 137)
      yield* subject.run("touch go")
      assert.deepStrictEqual(has(yield* end(subject)), ["ended", undefined])
      assert.strictEqual(yield* subject.jobs.output(1), "late\n")
    })
  )

  inSession("are lost with a restart, which says so", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("sleep 3002 &")
      subject.jobs.takeNews()
      yield* subject.session.restart
      assert.deepStrictEqual(
        subject.jobs.takeNews().map(({ id, state }) => [id, state]),
        [[1, "lost"]]
      )
    })
  )

  inSession("that print without end hold up nobody, and cost bounded memory", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("yes flood & yes flood >&2 &")
      for (let i = 0; i < 50; i++) {
        assert.deepStrictEqual(yield* subject.run(`echo ${i}`), result({ stdout: `${i}\n` }))
      }
      assert.isAtMost((yield* subject.jobs.output(1, { all: true })).length, 1.1 * 1024 ** 2)
      yield* subject.run("kill $(jobs -p)")
      assert.deepStrictEqual(has(yield* end(subject)), ["exited", 143])
      yield* assertKept(subject)
    })
  )

  inSession(
    "are limited: what a command leaves over that is ended, and its result says so",
    (subject) =>
      Effect.gen(function* () {
        for (let i = 0; i < 2; i++) assert.deepStrictEqual(yield* subject.run("sleep 3003 &"), result())
        const third = yield* subject.run("sleep 3004 & echo $!")
        assert.match(
          notices(third)?.join() ?? "",
          /^2 jobs run \(SYNAPSE_MAX_JOBS\): what this command left running was ended\./
        )
        assert.lengthOf(yield* subject.jobs.list, 2)
      }),
    { maxJobs: 2 }
  )

  inSession(
    "are lost at once in a session without jobs, and their processes are ended",
    ({ jobs, run }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* run("sleep 3007 & setsid -f sleep 3007"), result())
        assert.deepStrictEqual(jobs.takeNews().map(has), [["lost", undefined]])
        assert.deepStrictEqual(
          yield* run("while pgrep -f 'sleep 300[7]'; do sleep 0.05; done >&2; echo on"),
          result({ stdout: "on\n" })
        )
      }),
    { maxJobs: 0 }
  )

  inSession("have a name in plain characters, cut", (subject) =>
    Effect.gen(function* () {
      yield* subject.run(`: "\u001b[31m\u202e";\nsleep 3005 & : ${"x".repeat(99)}`)
      const [{ name } = { name: "" }] = yield* subject.jobs.list
      assert.match(name, /^: '\\u001b\[31m\\u202e'; sleep 3005 & : x+…$/)
      assert.isAtMost(name.length, 60)
    })
  )

  inSession("cost two descriptors each while they hold their output, and none then", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("sleep 3006 &")
      const before = descriptors().length
      for (let i = 0; i < 30; i++) yield* subject.run("sleep 3006 &")
      assert.isAtMost(descriptors().length - before, 60)
      yield* subject.run("kill $(jobs -p); wait")
      for (let tries = 0; descriptors().length > before && tries < 3000; tries++) yield* Effect.sleep(10)
      assert.isAtMost(descriptors().length, before)
    })
  )
})
