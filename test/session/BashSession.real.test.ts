/** Against a real bash: the session as an Effect. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as CallContext from "../../src/domain/CallContext.js"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import { assertKept, inSession, marked, prepare, result, started, withSession } from "../support/Session.js"

describe("interruption", () => {
  inSession("ends the process, tells what it had put out, and the next command is clean", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const { fiber, interrupted } = yield* started(subject, "printf 'so far'; echo err >&2; sleep 1000")
      yield* Effect.sleep(30)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual(interrupted, [result({ stdout: "so far", stderr: "err\n", exitCode: 130 })])
      assert.deepStrictEqual(
        marked(subject.mark).filter((line) => line.includes("sleep 1000")),
        []
      )
      yield* assertKept(subject)
    })
  )

  inSession("of a command that waits its turn takes it out of the row", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const { fiber } = yield* started(subject, "echo on; sleep 0.3; echo off")
      const told: Array<CommandResult> = []
      const waiting = yield* subject
        .run("touch never")
        .pipe(CallContext.locally({ listener: { onInterrupted: (result) => void told.push(result) } }), Effect.fork)
      const last = yield* Effect.fork(subject.run("echo last"))
      yield* Effect.sleep(20)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(told, [result({ exitCode: 130, began: false })])
      assert.deepStrictEqual(yield* Fiber.join(fiber), result({ stdout: "on\noff\n" }))
      assert.deepStrictEqual(yield* Fiber.join(last), result({ stdout: "last\n" }))
      assert.deepStrictEqual(yield* subject.run("ls"), result())
      yield* assertKept(subject)
    })
  )

  inSession("before the shell has started leaves nothing undone", (subject) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(subject.run("touch never"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        yield* subject.run("echo next; ls never 2>/dev/null"),
        result({ stdout: "next\n", exitCode: 2 })
      )
    })
  )

  it.live(
    "while no shell can be started ends with the start",
    () =>
      withSession(
        (subject) =>
          Effect.gen(function* () {
            const fiber = yield* Effect.fork(subject.run("echo never"))
            yield* Effect.yieldNow()
            assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
          }),
        { shellCommand: "/bin/false" }
      ),
    60_000
  )

  inSession("by a timeout of Effect's own works alike", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const outcome = yield* subject.run("sleep 1000").pipe(Effect.timeoutOption("100 millis"))
      assert.strictEqual(outcome._tag, "None")
      yield* assertKept(subject)
    })
  )
})

describe("timeout", () => {
  inSession("is an error with the output so far and exit code 124", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const error = yield* Effect.flip(subject.run("echo out; echo err >&2; sleep 1000", { timeout: 200 }))
      assert.deepStrictEqual(
        error,
        new ExecutionFailed({
          kind: "timeout",
          reason: "Command execution timeout: it ran longer than 200 ms and was ended",
          stdout: "out\n",
          stderr: "err\n"
        })
      )
      assert.deepStrictEqual([error.exitCode, error.category], [124, "execution_error"])
      yield* assertKept(subject)
    })
  )

  inSession(
    "comes from the settings where the call names none, and counts from the command's own start",
    (subject) =>
      Effect.gen(function* () {
        const first = yield* Effect.fork(subject.run("sleep 1", { timeout: 100_000 }))
        const second = yield* Effect.fork(subject.run("sleep 0.1; echo on"))
        const third = yield* Effect.fork(Effect.flip(subject.run("sleep 1000")))
        assert.deepStrictEqual(yield* Fiber.join(first), result())
        assert.deepStrictEqual(yield* Fiber.join(second), result({ stdout: "on\n" }))
        assert.strictEqual(
          (yield* Fiber.join(third)).message,
          "Command execution timeout: it ran longer than 1000 ms and was ended"
        )
      }),
    { timeout: 1000 }
  )

  inSession("of a millisecond or of a year is one", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const error = yield* Effect.flip(subject.run("sleep 1000", { timeout: 1 }))
      assert.strictEqual(error.message, "Command execution timeout: it ran longer than 1 ms and was ended")
      // Long enough for the timeout to be started.
      const slow = "sleep 0.1; echo on"
      for (const timeout of [365 * 86_400_000, Number.POSITIVE_INFINITY])
        assert.deepStrictEqual(yield* subject.run(slow, { timeout }), result({ stdout: "on\n" }))
      yield* assertKept(subject)
    })
  )
})

describe("order", () => {
  inSession("fifty commands at once run one after the other, in order", (subject) =>
    Effect.gen(function* () {
      const results = yield* Effect.all(
        Array.from({ length: 50 }, (_, i) => subject.run(`echo ${i} >> order; n=$((n + 1)); echo $n`)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        results,
        Array.from({ length: 50 }, (_, i) => result({ stdout: `${i + 1}\n` }))
      )
      assert.strictEqual(
        Fs.readFileSync(`${subject.directory}/order`, "utf8"),
        Array.from({ length: 50 }, (_, i) => `${i}\n`).join("")
      )
    })
  )

  inSession("two sessions do not see each other", (subject) =>
    Effect.gen(function* () {
      // Now: its directory would else be made within the other's.
      yield* subject.run("x=zero")
      yield* withSession((other) =>
        Effect.gen(function* () {
          yield* Effect.all([subject.run("x=one; cd /usr; umask 077"), other.run("x=two; cd /tmp; umask 027")], {
            concurrency: 2
          })
          const say = "echo $x $PWD; sleep 0.05; umask"
          assert.deepStrictEqual(yield* Effect.all([subject.run(say), other.run(say)], { concurrency: 2 }), [
            result({ stdout: "one /usr\n0077\n" }),
            result({ stdout: "two /tmp\n0027\n" })
          ])
          yield* subject.run("exit 1")
          yield* subject.session.restart
          assert.deepStrictEqual(yield* other.run("echo $x"), result({ stdout: "two\n" }))
        })
      )
    })
  )
})

describe("restart", () => {
  inSession("gives a new shell without any old state, and ends what the old one started", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("sleep 1041 & setsid sleep 1042 & (exit 3)")
      yield* subject.session.restart
      assert.deepStrictEqual(marked(subject.mark), [])
      assert.strictEqual(yield* subject.session.cwd, subject.directory)
      assert.deepStrictEqual(
        yield* subject.run('echo "$? $PWD ${kept-gone}"'),
        result({ stdout: `0 ${subject.directory} gone\n` })
      )
    })
  )

  inSession("while a command runs fails that command with what it had put out", (subject) =>
    Effect.gen(function* () {
      const { fiber } = yield* started(subject, "echo on; sleep 1000")
      const waiting = yield* Effect.fork(subject.run("echo waited"))
      yield* Effect.sleep(20)
      yield* subject.session.restart
      assert.deepStrictEqual(
        yield* Effect.flip(Fiber.join(fiber)).pipe(Effect.map((error) => ({ ...error, diagnostics: [] }))),
        {
          ...new ExecutionFailed({
            kind: "shell",
            reason: "The session was restarted or ended while the command ran",
            stdout: "on\n"
          }),
          diagnostics: []
        }
      )
      assert.deepStrictEqual(yield* Fiber.join(waiting), result({ stdout: "waited\n" }))
    })
  )

  inSession("before, during and after a start does no harm", (subject) =>
    Effect.gen(function* () {
      yield* subject.session.restart
      for (const delay of [0, 1, 3, 6, 10, 15, 25]) {
        const fiber = yield* Effect.fork(subject.run("echo on"))
        yield* Effect.sleep(delay)
        yield* Effect.all([subject.session.restart, subject.session.restart], { concurrency: 2 })
        const exit = yield* Fiber.await(fiber)
        if (Exit.isSuccess(exit)) assert.deepStrictEqual(exit.value, result({ stdout: "on\n" }))
        else assert.include(String(exit.cause), "restarted")
        assert.deepStrictEqual(yield* subject.run("echo next"), result({ stdout: "next\n" }))
      }
    })
  )
})
