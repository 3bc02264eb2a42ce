/** Against a real bash: what a command's process substitutions write is in its result, and `&` does not hold it. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { JobStatus } from "../../src/domain/JobStatus.js"
import * as Leftovers from "../support/Leftovers.js"
import { assertKept, eventually, inSession, marked, prepare, result, started } from "../support/Session.js"

const isRunning = ({ state }: JobStatus) => state === "running"

describe("process substitutions", () => {
  inSession("write to the result of their command, for as long as they live", ({ jobs, run }) =>
    Effect.gen(function* () {
      for (const { command, isHeld = false, stderr = "", stdout = "" } of Leftovers.substitutions) {
        assert.deepStrictEqual(yield* run(command), result({ stdout, stderr }), command)
        assert.strictEqual(jobs.takeNews().some(isRunning), isHeld, command)
      }
    })
  )

  inSession("a script that logs through tee loses nothing, a hundred times", ({ run }) =>
    Effect.gen(function* () {
      yield* run("printf '%s\\n' 'exec > >(tee -a log) 2>&1' 'echo $1; echo err >&2' > s.sh")
      for (let i = 0; i < 100; i++) {
        assert.deepStrictEqual(yield* run(`bash s.sh ${i}`), result({ stdout: `${i}\nerr\n` }))
      }
    })
  )

  inSession("what `&` has started does not hold its command", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const { command, isHeld = false, stderr = "", stdout = "" } of Leftovers.background) {
        // A command that waited for any of it would be ended by its timeout.
        const got = yield* subject.run(command, { timeout: 15_000 })
        assert.deepStrictEqual(got, result({ stdout, stderr }), command)
        assert.strictEqual(subject.jobs.takeNews().some(isRunning), isHeld, command)
      }
      yield* assertKept(subject)
    })
  )

  inSession("one that does not end is ended by the timeout, with the output until then", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const error = yield* Effect.flip(subject.run("echo hi > >(cat; sleep 1031; cat)", { timeout: 300 }))
      assert.strictEqual(error._tag === "ExecutionFailed" ? `${error.kind} ${error.stdout}` : "", "timeout hi\n")
      assert.deepStrictEqual(
        yield* eventually(
          () => marked(subject.mark).filter((line) => line.includes("sleep 1031")),
          (left) => left.length === 0
        ),
        []
      )
      yield* assertKept(subject)
    })
  )

  inSession("one that does not end is ended by a cancel, and nothing of it stays", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const { fiber, interrupted } = yield* started(subject, "bash -c 'exec > >(cat; sleep 1032); echo begun'")
      yield* Effect.sleep(100)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(interrupted, [result({ stdout: "begun\n", exitCode: 130 })])
      assert.deepStrictEqual(
        marked(subject.mark).filter((line) => line.includes("sleep 1032")),
        []
      )
      yield* assertKept(subject)
    })
  )

  inSession("a restart does not wait for one", (subject) =>
    Effect.gen(function* () {
      const { fiber } = yield* started(subject, "echo hi > >(cat; sleep 1033)")
      yield* subject.session.restart
      assert.isTrue((yield* Fiber.await(fiber))._tag === "Failure")
      assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
    })
  )

  inSession("is found among many background processes, whose own shell is gone", (subject) =>
    Effect.gen(function* () {
      const sleepers = "for i in {1..300}; do sleep 1035 & done 2>/dev/null"
      const got = yield* subject.run(`${sleepers}; bash -c 'exec > >(sleep 0.5; cat); echo on'`)
      assert.deepStrictEqual(got, result({ stdout: "on\n" }))
      assert.deepStrictEqual(yield* subject.run("kill $(jobs -p); wait"), result())
    })
  )

  inSession("hostile holders delay nobody: thousands of descriptors, names like those of pipes", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("ulimit -n 4000 2>/dev/null; touch 'pipe:[1]'")
      const open = "for ((i = 20; i < $(ulimit -n) - 20; i++)); do eval \"exec $i<'pipe:[1]'\"; done"
      const got = yield* subject.run(`(${open}; exec sleep 1034) & (exec -a '0) Z 1 1' sleep 1034) & echo on > >(cat)`)
      assert.deepStrictEqual(got, result({ stdout: "on\n" }))
      yield* assertKept(subject)
    })
  )
})
