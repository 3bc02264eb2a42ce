/** Against a real bash: many jobs, jobs that write much, and jobs whose shell is killed. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Memory from "../support/Memory.js"
import {
  assertKept,
  descriptors,
  eventually,
  inSession,
  marked,
  prepare,
  type Subject,
  withSession
} from "../support/Session.js"
import { notices } from "../support/Told.js"

const memoryOf = (pid: string) => Number(/VmRSS:\s*(\d+)/.exec(Fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

const MB = 1_000_000

/** The bytes of each file that the session has made. */
const files = ({ directory }: Subject): ReadonlyArray<number> => {
  const own = Path.join(directory, "../synapse-own")
  return Fs.readdirSync(own, { recursive: true, encoding: "utf8" }).map(
    (name) => Fs.statSync(Path.join(own, name)).size
  )
}

/** What the session holds. */
const held = (subject: Subject) => ({
  descriptors: descriptors().length,
  processes: marked(subject.mark).length,
  files: files(subject).length
})

/** Waits until all jobs have ended, and returns the exit codes of the last 64. */
const exitCodes = ({ jobs }: Subject) =>
  Effect.gen(function* () {
    yield* jobs.wait((yield* jobs.list).map(({ id }) => id))
    return (yield* jobs.list).map(({ exitCode }) => exitCode)
  })

const sixtyFour = (code: number) => Array.from({ length: 64 }, () => code)

/** That the session holds no more than before, once closed sockets are gone. */
const assertNoMore = (subject: Subject, before: ReturnType<typeof held>) =>
  Effect.gen(function* () {
    const now = yield* eventually(
      () => held(subject),
      ({ descriptors }) => descriptors <= before.descriptors
    )
    assert.isAtMost(now.descriptors, before.descriptors, "descriptors")
    assert.isAtMost(now.processes, before.processes, "processes")
    assert.isAtMost(now.files, before.files, "files")
  })

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join("")

describe("many jobs", () => {
  it.live(
    "hundreds one after another leave no descriptor, process, file or memory",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          const { jobs, run } = subject
          yield* prepare(subject)
          const shell = (yield* run("mkfifo gate; echo $$")).stdout.trim()
          const round = (count: number) =>
            Effect.gen(function* () {
              for (let at = 0; at < count; at++) {
                yield* run("{ read -r _ <gate; printf %0200000d 0; exit 3; } &")
                yield* run("echo >gate; wait $!")
              }
              assert.deepStrictEqual(yield* exitCodes(subject), sixtyFour(3))
            })
          yield* round(70)
          const before = held(subject)
          const [ours, theirs] = [Memory.used(), memoryOf(shell)]
          yield* round(80)
          yield* assertNoMore(subject, before)
          assert.isBelow((Memory.used() - ours) / 80, 100_000, "bytes of memory a job, which prints 200,000")
          assert.isBelow((memoryOf(shell) - theirs) / 80, 1, "kB of the shell's memory a job")
          assert.strictEqual((yield* jobs.list).at(-1)?.id, 150)
          yield* assertKept(subject)
        })
      ),
    300_000
  )

  it.live(
    "sixty-four at once leave nothing either, and the next one is refused",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          const { jobs, run } = subject
          yield* prepare(subject)
          const shell = (yield* run("echo $$")).stdout.trim()
          const round = Effect.gen(function* () {
            for (let at = 0; at < 64; at++) yield* run("sleep 3021 &")
            const last = yield* run("sleep 3022 &")
            assert.match(
              notices(last)?.join() ?? "",
              /^64 jobs run \(SYNAPSE_MAX_JOBS\): what this command left running was ended\./
            )
            yield* Effect.repeat(Effect.sleep(10), {
              until: () => !marked(subject.mark).some((one) => one.endsWith("sleep 3022"))
            })
            assert.lengthOf(
              (yield* jobs.list).filter(({ state }) => state === "running"),
              64
            )
            yield* run("kill $(jobs -p)")
            assert.deepStrictEqual(yield* exitCodes(subject), sixtyFour(143))
          })
          yield* round
          const before = held(subject)
          const theirs = memoryOf(shell)
          yield* round
          yield* assertNoMore(subject, before)
          assert.isBelow(memoryOf(shell) - theirs, 200, "kB of the shell's memory")
          yield* assertKept(subject)
        })
      ),
    300_000
  )

  inSession("one that writes a flood costs some MB of memory, and no disk", (subject) =>
    Effect.gen(function* () {
      const { jobs, run } = subject
      const bytes = 50 * MB
      yield* run("mkfifo gate")
      const ours = Memory.used()
      yield* run(`{ read -r _ <gate; head -c ${bytes} /dev/zero; echo end; } &`)
      yield* run("echo >gate")
      const most = { memory: 0, disk: 0 }
      while ((yield* jobs.status(1)).state === "running") {
        most.memory = Math.max(most.memory, Memory.used() - ours)
        most.disk = Math.max(
          most.disk,
          files(subject).reduce((sum, size) => sum + size, 0)
        )
        yield* Effect.sleep(500)
      }
      assert.isBelow(most.memory, 30 * MB)
      assert.isBelow(most.disk, MB)
      const [told = "", ...rest] = (yield* jobs.output(1)).split("\n")
      const kept = rest.join("\n").length
      assert.strictEqual(Number(/^\[… (\d+) bytes dropped …\]$/.exec(told)?.[1]) + kept, bytes + "end\n".length)
      assert.isAtMost(kept, 1024 ** 2)
    })
  )

  inSession(
    "lose no output with their shell, killed in the middle",
    (subject) =>
      Effect.gen(function* () {
        const { jobs, run } = subject
        const count = 10_000
        // Each is a job, also where it has written all before its call ends.
        const write = `for ((i = 1; i <= ${count}; i++)); do echo $i; done; until [ -e go ]; do sleep 0.05; done`
        const written = numbers(count)
        const parts: Array<string> = []
        for (let at = 0; at < 4; at++) parts.push((yield* run(`{ ${write}; } &`)).stdout)
        // The last one begins in the very call that kills the shell.
        const killed = yield* run(`{ ${write}; } & kill -9 $$`)
        assert.strictEqual(killed.exitCode, 137)
        parts.push(killed.stdout)
        yield* run("touch go")
        yield* exitCodes(subject)
        for (const [at, part] of parts.entries()) {
          const whole = part + (yield* jobs.output(at + 1))
          assert.isTrue(whole === written, `job ${at + 1} printed ${whole.length} bytes`)
        }
      }),
    { outputLimit: MB }
  )
})
