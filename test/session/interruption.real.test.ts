/** Against a real bash: what is cancelled or takes too long ends, and the shell stays. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as Ground from "../support/escape/Ground.js"
import {
  assertKept,
  marked,
  prepare,
  result,
  type Subject,
  shareSession,
  started,
  stateLost,
  withSession
} from "../support/Session.js"

interface Case {
  readonly name: string
  /** Comes between `printf on`, unless it does that itself when it is ready, and `printf no`. */
  readonly command: string
  /** What it prints itself while it is being ended. */
  readonly says?: string
}

const cases: ReadonlyArray<Case> = [
  { name: "sleep", command: "sleep 1000" },
  { name: "a busy loop of the shell's", command: "while :; do :; done" },
  { name: "a loop that counts", command: "for ((i = 0; ; i++)); do x=$((i * 2)); done" },
  ...(Ground.has("python3") ? [{ name: "a busy loop of Python's", command: "python3 -c 'while True: pass'" }] : []),
  { name: "a pipeline", command: "yes | cat | sleep 1000" },
  { name: "a loop of sleeps", command: "for i in {1..1000}; do sleep 0.05; done" },
  { name: "a list of sleeps", command: "sleep 1000; sleep 1000 && sleep 1000 || sleep 1000" },
  { name: "a substitution", command: "x=$(sleep 1000)" },
  { name: "wait, and the job", command: "sleep 1000 & wait" },
  { name: "jobs in the background", command: "sleep 1000 & sleep 1000 & sleep 1000" },
  { name: "an orphan", command: "(sleep 1000 &); sleep 1000" },
  { name: "nohup", command: "nohup sleep 1000 & wait" },
  { name: "a background session of its own", command: "setsid sleep 1000 & sleep 1000" },
  { name: "a daemon that hears nobody", command: "(setsid sleep 1000 </dev/null >/dev/null 2>&1 &); sleep 1000" },
  {
    name: "a daemon that clears its environment",
    command: "(setsid env -i sleep 1000 </dev/null >/dev/null 2>&1 &); sleep 1000"
  },
  {
    name: "a job that ignores all that can be ignored",
    command: "bash -c 'trap \"\" INT TERM HUP QUIT; printf on; while :; do sleep 0.05; done' & sleep 1000"
  },
  {
    name: "a job that is stopped, which still runs its trap",
    command:
      "bash -c 'trap \"printf bye; exit\" TERM; kill -STOP $$; sleep 1000' & " +
      "until read -r _ _ state _ </proc/$!/stat && [ $state = T ]; do :; done; printf on; sleep 1000",
    says: "bye"
  },
  { name: "a coprocess", command: "coproc sleep 1000; sleep 1000" },
  { name: "an output's substitution", command: "exec 9> >(sleep 1000); sleep 1000; exec 9>&-" },
  { name: "disowned jobs", command: "sleep 1000 & disown; sleep 1000" },
  { name: "jobs of jobs", command: "{ { sleep 1000 & wait; } & wait; } & sleep 1000" },
  { name: "a crowd", command: "for i in {1..150}; do (sleep 1000 &); done; sleep 1000" },
  { name: "a chain of orphans", command: "f() { sleep 0.01; (f &); }; f; sleep 1000" },
  { name: "a subshell in a function", command: "f() { (sleep 1000); }; f" },
  { name: "recursion that waits", command: "f() { sleep 0.001; f; }; f" },
  { name: "a FIFO that nobody writes to", command: "mkfifo fifo; cat fifo" },
  { name: "a FIFO that the shell itself opens", command: "mkfifo own; read x < own" },
  { name: "a session of its own", command: "setsid -w sleep 1000" },
  { name: "a shell in the shell", command: "bash -c 'sleep 1000; echo no'" },
  { name: "find and xargs", command: "yes | xargs -n 1 sleep 1000" },
  { name: "a child that ignores SIGINT", command: "bash -c 'trap \"\" INT; printf on; while :; do sleep 0.05; done'" },
  {
    name: "a child that ignores all that can be ignored",
    command: "bash -c 'trap \"\" INT TERM HUP QUIT; printf on; while :; do sleep 0.05; done'"
  },
  { name: "a trap of the user's on SIGINT", command: "trap 'printf mine' INT; sleep 1000; sleep 1000", says: "mine" },
  { name: "a SIGINT that is ignored", command: "trap '' INT; sleep 1000" },
  { name: "a SIGINT that is ignored by a loop", command: "trap '' INT; while :; do sleep 0.05; done" },
  { name: "a shell that has stopped itself", command: "kill -STOP $$" },
  { name: "a read from the late end of a pipe", command: "sleep 1000 | while read -r x; do :; done" },
  { name: "a process substitution", command: "cat <(sleep 1000)" },
  { name: "a heredoc's substitution", command: "cat <<EOF\n$(sleep 1000)\nEOF\n" },
  { name: "a prompt", command: "read -r x < <(sleep 1000)" },
  { name: "an eval in a loop", command: "while eval 'sleep 0.01'; do :; done" },
  { name: "an exported trace", command: "exec 9>/dev/null; BASH_XTRACEFD=9; set -x; sleep 1000" },
  { name: "errexit and nounset", command: "set -eu; sleep 1000" }
]

const whole = (command: string) => `${command.includes("printf on") ? "" : "printf on; "}${command}; printf no`

/** For a timeout, which ends a command as a cancel does: what each step of that ends, and what resists it. */
const timedOut = cases.filter(({ name }) =>
  [
    "sleep",
    "a busy loop of the shell's",
    "a daemon that clears its environment",
    "a child that ignores all that can be ignored",
    "a trap of the user's on SIGINT",
    "a shell that has stopped itself",
    "errexit and nounset"
  ].includes(name)
)

/** Nothing is left as soon as the answer is there. */
const assertGone = (mark: string) =>
  Effect.sync(() =>
    assert.deepStrictEqual(
      marked(mark).filter((line) => !line.includes("--norc")),
      []
    )
  )

/** Nothing is left, and the shell is as it was before. */
const assertEnded = (subject: Subject) =>
  Effect.gen(function* () {
    yield* assertGone(subject.mark)
    yield* subject.run("set +eux; trap - INT; rm -f fifo own; unset BASH_XTRACEFD")
    yield* assertKept(subject)
    yield* subject.run(`cd "${subject.directory}"; unset kept`)
  })

describe("cancel", () => {
  shareSession((test) => {
    for (const { command, name, says = "" } of cases) {
      test(`ends ${name}`, (subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const { fiber, interrupted } = yield* started(subject, whole(command))
          yield* Effect.sleep(20)
          yield* Fiber.interrupt(fiber)
          const [told] = interrupted
          assert.deepStrictEqual(interrupted, [
            result({ stdout: `on${says}`, stderr: told?.stderr ?? "", exitCode: 130 })
          ])
          yield* assertEnded(subject)
        }))
    }
  })
})

describe("timeout", () => {
  shareSession((test) => {
    for (const { command, name, says = "" } of timedOut) {
      test(`ends ${name}`, (subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const failed = yield* Effect.flip(subject.run(whole(command), { timeout: 500 }))
          assert.deepStrictEqual(
            failed,
            new ExecutionFailed({
              kind: "timeout",
              reason: "Command execution timeout: it ran longer than 500 ms and was ended",
              stdout: `on${says}`,
              // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
              stderr: (failed as ExecutionFailed).stderr
            })
          )
          // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
          assert.strictEqual((failed as ExecutionFailed).exitCode, 124)
          yield* assertEnded(subject)
        }))
    }
  })

  it.live(
    "leaves an earlier background job alone",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          yield* subject.run("sleep 1031 & J=$!; trap '' INT")
          yield* Effect.sleep(50)
          yield* Effect.flip(subject.run("bash -c 'trap \"\" INT TERM; sleep 1032'; sleep 1033", { timeout: 50 }))
          assert.deepStrictEqual(yield* subject.run("kill -0 $J && kill $J; wait $J"), result({ exitCode: 143 }))
          yield* assertKept(subject)
        })
      ),
    60_000
  )

  it.live(
    "costs the state only where the shell can't be brought back, and says so",
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const there = `${subject.directory}/kept here`
          const failed = yield* Effect.flip(
            subject.run("shopt -s extdebug; trap false DEBUG; sleep 1", { timeout: 100 })
          )
          assert.deepStrictEqual(
            failed,
            new ExecutionFailed({
              kind: "timeout",
              reason: "Command execution timeout: it ran longer than 100 ms and was ended",
              diagnostics: stateLost(there)
            })
          )
          assert.deepStrictEqual(yield* subject.run("pwd"), result({ stdout: `${there}\n` }))
        })
      ),
    60_000
  )
})

describe("what follows in the line", () => {
  shareSession((test) => {
    for (const command of [
      "(sleep 1000); : >ran",
      "(sleep 1000); (: >ran)",
      "(sleep 1000; true); (: >ran) | cat",
      "(sleep 1000)\n: >ran",
      "# first\n(sleep 1000; true) || : >ran",
      "time (sleep 1000); { : >ran; }",
      "{ (sleep 1000); }; : >ran",
      "if (sleep 1000); then :; fi; : >ran",
      "sleep 1000 | cat; : >ran",
      "(sleep 1000; : >ran) & sleep 1000",
      "{ sleep 1000; : >ran; } & wait",
      "for i in 1 2; do sleep 1000; : >ran; done & wait",
      "(exec 2>/dev/null; sleep 1000; : >ran) & wait"
    ]) {
      test(`does not run: ${JSON.stringify(command)}`, (subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const error = yield* Effect.flip(subject.session.execute(command, { timeout: 200 }))
          assert.instanceOf(error, ExecutionFailed)
          yield* assertGone(subject.mark)
          assert.deepStrictEqual(
            yield* subject.run("cat ran 2>/dev/null || echo nothing"),
            result({ stdout: "nothing\n" })
          )
          yield* assertEnded(subject)
        }))
    }
  })
})

describe("a trace", () => {
  for (const [command, stderr] of [
    ["set -x; sleep 1000", "++ sleep 1000\n"],
    ["set -x; (sleep 1000)", "++ sleep 1000\n"],
    ["trap 'echo mine >&2; exit 3' INT; sleep 1000", "mine\n"]
  ] as const) {
    it.live(`shows nothing of how its command is cut: ${command}`, () =>
      withSession((subject) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(subject.session.execute(command, { timeout: 200 }))
          assert.deepStrictEqual(
            error instanceof ExecutionFailed ? error.stderr.replaceAll(/^\++/gm, "++") : error,
            stderr.replaceAll(/^\++/gm, "++")
          )
        })
      )
    )
  }
})
