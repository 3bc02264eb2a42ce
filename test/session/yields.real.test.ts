/** Against a real bash: a program that runs longer than the caller waits goes on as a job. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assertKept, inSession, prepare, result, started } from "../support/Session.js"
import { told } from "../support/Told.js"

const program = (then: string) => `bash -c 'echo begun; until [[ -e go ]]; do sleep 0.02; done; ${then}'`

describe("yield", () => {
  inSession("answers with the output so far, and the program goes on as a job with its exit code", (subject) =>
    Effect.gen(function* () {
      const { jobs, run } = subject
      yield* prepare(subject)
      yield* run("mkdir -p sub")
      const got = yield* run(`cd sub && V=1 && ${program("echo late; exit 6")}`, { yield: 300 })
      assert.deepStrictEqual(got, result({ stdout: "begun\n", movedTo: `${subject.directory}/kept here/sub` }))
      assert.deepStrictEqual(
        jobs.takeNews().map(({ state }) => state),
        ["running"]
      )
      assert.deepStrictEqual(yield* run("echo $V; touch go; cd .."), {
        ...result({ stdout: "1\n" }),
        movedTo: `${subject.directory}/kept here`
      })
      const { job } = yield* jobs.wait([1])
      assert.deepStrictEqual([job.state, job.exitCode], ["exited", 6])
      assert.strictEqual(yield* jobs.output(1), "late\n")
      yield* assertKept(subject)
    })
  )

  inSession("makes a job of a pipeline, whose exit code counts as pipefail says", (subject) =>
    Effect.gen(function* () {
      const { jobs, run } = subject
      const got = yield* run(`V=1 && ${program("echo late; exit 6")} | cat`, { yield: 300 })
      assert.deepStrictEqual(got, result({ stdout: "begun\n" }))
      assert.deepStrictEqual(yield* run("echo $V; touch go; false | true"), {
        ...result({ stdout: "1\n" }),
        pipeline: [1, 0]
      })
      const first = yield* jobs.wait([1])
      assert.deepStrictEqual([first.job.state, first.job.exitCode], ["exited", 0])
      assert.strictEqual(yield* jobs.output(1), "late\n")
      yield* run(`rm go; set -o pipefail; ${program("exit 6")} | cat`, { yield: 300 })
      yield* run("touch go")
      const second = yield* jobs.wait([2])
      assert.deepStrictEqual([second.job.state, second.job.exitCode], ["exited", 6])
    })
  )

  inSession("changes nothing for what ends in time", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const [command, expected] of [
        ["bash -c 'echo on; exit 3'", { stdout: "on\n", exitCode: 3 }],
        ["false || bash -c 'kill -9 $$'", { exitCode: 137 }],
        ["set -e; ls /dev/null; set +e; sleep 0.01", { stdout: "/dev/null\n" }],
        ["trap 'V=2' CHLD; bash -c 'sleep 0.05 & sleep 0.1; exit 4'", { exitCode: 4 }],
        ["trap - CHLD; bash -c 'exit 3' | bash -c 'exit 4' | true", { pipeline: [3, 4, 0] }],
        ["set -o pipefail; bash -c 'exit 3' | true", { exitCode: 3, pipeline: [3, 0] }],
        ["shopt -s lastpipe; set +o pipefail; true | L=1", {}],
        ["printf x | read L", { exitCode: 1 }],
        ["f() { echo $1; }; f $L | cat; shopt -u lastpipe", { stdout: "x\n" }],
        ["nosuch-program | cat", { stderr: "bash: nosuch-program: command not found\n", pipeline: [127, 0] }],
        ["f() { W=3; }; f", {}],
        ["echo $W", { stdout: "3\n" }],
        ['(exit 7); bash -c "exit $?"', { exitCode: 7 }],
        ["mkdir -p made && ls -d $_", { stdout: "made\n" }],
        [
          "nosuch-program",
          { exitCode: 127, stderr: "bash: nosuch-program: command not found\n", notFound: "nosuch-program" }
        ],
        ["set -u; env true", {}],
        ["set +u; trap -p", { stdout: "" }]
      ] as const) {
        assert.deepStrictEqual(yield* subject.run(command, { yield: 20_000 }), result(expected), command)
      }
      assert.deepStrictEqual(subject.jobs.takeNews(), [])
      yield* assertKept(subject)
    })
  )

  inSession("is told once where it can't be applied and the command runs for longer", ({ run }) =>
    Effect.gen(function* () {
      const loop = "for i in 1 2; do sleep 0.1; done"
      assert.deepStrictEqual(yield* run("echo | cat", { yield: 20_000 }), result({ stdout: "\n" }))
      assert.deepStrictEqual(
        yield* run(loop, { yield: 50 }),
        result({
          diagnostics: told(
            "yield takes only the last program or pipeline of a line, outside of ( ). yield=0 makes a job of any line."
          )
        })
      )
      assert.deepStrictEqual(yield* run(`(${loop}) | cat`, { yield: 50 }), result())
      assert.deepStrictEqual(yield* run(loop), result())
    })
  )

  inSession(
    "answers a known server in the foreground once it listens and is silent, and no other program",
    ({ jobs, run }) =>
      Effect.gen(function* () {
        const server = `require("net").createServer().listen(0, "127.0.0.1", () => console.log("ready"))`
        yield* run(`echo '${server}' | tee server.cjs >test.cjs`)
        const other = yield* Effect.flip(run("node test.cjs", { yield: 90_000, timeout: 4000 }))
        assert.strictEqual(other._tag === "ExecutionFailed" ? other.kind : "", "timeout")
        const got = yield* run("node server.cjs", { yield: 90_000, timeout: 100_000 })
        assert.strictEqual(got.stdout, "ready\n")
        assert.strictEqual(jobs.takeNews()[0]?.state, "running")
        yield* jobs.stop(1)
      })
  )

  inSession("leaves cancels and timeouts as they are: nothing of the program stays", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const error = yield* Effect.flip(subject.run("echo hi; sleep 3201", { timeout: 300, yield: 15_000 }))
      assert.strictEqual(error._tag === "ExecutionFailed" ? `${error.kind} ${error.stdout}` : "", "timeout hi\n")
      const { fiber, interrupted } = yield* started(subject, "echo hi; sleep 3202", { yield: 15_000 })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(interrupted, [result({ stdout: "hi\n", exitCode: 130 })])
      assert.deepStrictEqual(yield* subject.run("pgrep -f 'sleep 320[12]'"), result({ exitCode: 1 }))
      yield* assertKept(subject)
    })
  )

  inSession("waits for what comes before the program", (subject) =>
    Effect.gen(function* () {
      const got = yield* subject.run("V=1; sleep 0.5; V=2; sleep 3203", { yield: 100 })
      assert.deepStrictEqual(got, result())
      assert.deepStrictEqual(yield* subject.run("echo $V"), result({ stdout: "2\n" }))
    })
  )
})
