/** Against a real bash: long and many lives. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as CallContext from "../../src/domain/CallContext.js"
import * as Jobs from "../../src/session/Jobs.js"
import * as Session from "../support/Session.js"
import {
  assertKept,
  descriptors,
  eventually,
  inSession,
  marked,
  markVariable,
  prepare,
  result,
  withSession
} from "../support/Session.js"
import { notices } from "../support/Told.js"

const commands = [
  "true",
  "false",
  "echo out",
  "echo err >&2",
  "cd .",
  "x=$((x + 1))",
  "nosuch",
  "echo 'open",
  ": | :",
  "seq 3000"
] as const

/** A generator of the same numbers every time. */
const numbers = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}

describe("life", () => {
  it.live(
    "hundreds of commands leave no descriptor, process, listener or memory",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const round = (count: number) =>
            Effect.gen(function* () {
              for (let i = 0; i < count; i++) yield* subject.run(commands[i % commands.length] ?? "")
            })
          yield* round(200)
          // A descriptor that was still being closed is gone when it is looked at.
          yield* Effect.sleep("200 millis")
          const resources = () => process.getActiveResourcesInfo().sort().join(" ")
          const before = {
            descriptors: descriptors().length,
            resources: resources(),
            marked: marked(subject.mark).length
          }
          const pid = (yield* subject.run("echo $$")).stdout.trim()
          const shell = () => Number(/VmRSS:\s*(\d+)/.exec(Fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
          const shellMemory = shell()
          yield* round(400)
          yield* eventually(resources, (now) => now === before.resources)
          assert.deepStrictEqual(
            { descriptors: descriptors().length, resources: resources(), marked: marked(subject.mark).length },
            before
          )
          assert.isBelow(shell() - shellMemory, 60, "kB of the shell's memory")
          assert.deepStrictEqual(yield* subject.run("echo $x"), result({ stdout: "60\n" }))
          yield* assertKept(subject)
        })
      ),
    120_000
  )

  it.live(
    "eight sessions at once serve, and go",
    () =>
      withSession(({ directory, mark }) =>
        Effect.gen(function* () {
          const one = (i: number) =>
            Effect.gen(function* () {
              const { execute } = yield* Session.make
              yield* execute(`x=${i}; cd /usr; sleep 1061 &`)
              yield* Effect.sleep(100)
              const jobs = yield* Jobs.Jobs
              assert.deepStrictEqual(yield* execute("echo $x $PWD; exit 3"), {
                ...result({ stdout: `${i} /usr\n`, exitCode: 3 }),
                left: true
              })
              assert.deepStrictEqual(
                (yield* jobs.list).map(({ name, state }) => [name, state]),
                [[`x=${i}; cd /usr; sleep 1061`, "running"]]
              )
              assert.deepStrictEqual(yield* execute("echo $x"), result({ stdout: `${i}\n` }))
            }).pipe(
              Effect.scoped,
              Effect.provide(Layer.fresh(Session.services({ cwd: directory, environment: { [markVariable]: mark } })))
            )
          yield* Effect.forEach(
            Array.from({ length: 8 }, (_, i) => i),
            one,
            { concurrency: "unbounded", discard: true }
          )
          assert.deepStrictEqual(marked(mark), [])
        })
      ),
    300_000
  )

  inSession("eighty megabytes pass through little memory", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("head -c 20000000 /dev/zero")
      const before = process.memoryUsage.rss()
      let most = before
      let length = 0
      const got = yield* CallContext.locally(subject.run("head -c 80000000 /dev/zero | tr '\\0' y; echo end"), {
        listener: {
          onOutput: (_, chunk) => {
            length += chunk.length
            if (length % 16 === 0) most = Math.max(most, process.memoryUsage.rss())
          }
        }
      })
      assert.strictEqual(length, 80_000_004)
      assert.match(got.stdout, /yend\n$/)
      assert.isBelow(most - before, 60_000_000)
    })
  )

  it.live(
    "a hundred cancels at any moment corrupt nothing",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          const random = numbers(20_260_101)
          const cancelled = [
            "true",
            "echo out",
            "sleep 1000",
            "while :; do :; done",
            "x=$(sleep 1000)",
            "sleep 1000 | cat",
            "for i in {1..100000}; do echo $i; done",
            "f() { f; sleep 0.01; }; sleep 0.002; (sleep 1000)",
            "echo $(echo $(echo a))",
            "exit 3",
            "cat <<< text; read x < <(sleep 1000)",
            "printf '%s' {1..20000} | wc -c"
          ]
          yield* prepare(subject)
          const said: Array<string> = []
          for (let i = 0; i < 100; i++) {
            const command = cancelled[Math.floor(random() * cancelled.length)] ?? ""
            const fiber = yield* subject.run(command).pipe(
              CallContext.locally({
                listener: {
                  onInterrupted: (result) =>
                    void said.push(...(notices(result) ?? []).map((notice) => `${command}: ${notice}`))
                }
              }),
              Effect.fork
            )
            yield* random() < 0.2 ? Effect.yieldNow() : Effect.sleep(random() * 15)
            yield* Fiber.interrupt(fiber)
            assert.deepStrictEqual(yield* subject.run(`echo ${i}`), result({ stdout: `${i}\n` }))
            assert.deepStrictEqual(said, [], `the cancel of number ${i}`)
            if (i % 20 === 0) yield* assertKept(subject)
          }
          yield* assertKept(subject)
        })
      ),
    120_000
  )
})
