/** Against a real bash: several commands in one turn. */
import { assert, describe } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as CallContext from "../../src/domain/CallContext.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import type * as BashSession from "../../src/session/BashSession.js"
import { inSession, result, started } from "../support/Session.js"

describe("an exclusive turn", () => {
  inSession("keeps the commands of others out, and then lets them in, in order", ({ run, session }) =>
    Effect.gen(function* () {
      const holds = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const turn = yield* Effect.fork(
        session.exclusive((execute) =>
          execute("x=mine").pipe(
            Effect.zipRight(Deferred.succeed(holds, undefined)),
            Effect.zipRight(Deferred.await(goOn)),
            Effect.zipRight(execute("echo $x"))
          )
        )
      )
      yield* Deferred.await(holds)
      const others = yield* Effect.forEach(["x=${x}1; echo $x", "x=${x}2; echo $x"], (command) =>
        Effect.tap(Effect.fork(run(command)), Effect.repeatN(Effect.yieldNow(), 20))
      )
      yield* Deferred.succeed(goOn, undefined)
      assert.deepStrictEqual(yield* Fiber.join(turn), result({ stdout: "mine\n" }))
      assert.deepStrictEqual(yield* Fiber.join(Fiber.all(others)), [
        result({ stdout: "mine1\n" }),
        result({ stdout: "mine12\n" })
      ])
    })
  )

  inSession("runs its own commands one after the other, and long ones too", ({ session }) =>
    Effect.gen(function* () {
      const seen = yield* session.exclusive((execute) =>
        Effect.all(
          [execute("sleep 0.1; x=1"), execute("echo $x"), Effect.flip(execute("sleep 60", { timeout: 100 }))],
          {
            concurrency: "unbounded"
          }
        )
      )
      assert.deepStrictEqual(seen[1], result({ stdout: "1\n" }))
      assert.match(seen[2].message, /timeout/)
    })
  )

  inSession("ends when it is interrupted, while it waits and while it runs", (subject) =>
    Effect.gen(function* () {
      const { run, session } = subject
      const { fiber } = yield* started(subject, "echo on; sleep 0.3")
      const waiting = yield* Effect.fork(session.exclusive(() => Effect.die("not its turn")))
      yield* Effect.sleep(20)
      yield* Fiber.interrupt(waiting)
      yield* Fiber.join(fiber)
      const begun = yield* Effect.makeLatch()
      const told: Array<CommandResult> = []
      const running = yield* session
        .exclusive((execute) => execute("echo on; sleep 60"))
        .pipe(
          CallContext.locally({
            listener: {
              // @effect-diagnostics-next-line runEffectInsideEffect:off
              onOutput: () => Effect.runSync(begun.open),
              onInterrupted: (result) => void told.push(result)
            }
          }),
          Effect.fork
        )
      yield* begun.await
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(told, [result({ stdout: "on\n", exitCode: 130 })])
      assert.deepStrictEqual(yield* run("echo next"), result({ stdout: "next\n" }))
    })
  )

  inSession("is not in the way of a restart", ({ run, session }) =>
    Effect.gen(function* () {
      const seen = yield* session.exclusive((execute) =>
        execute("x=1").pipe(Effect.zipRight(session.restart), Effect.zipRight(execute("echo [$x]")))
      )
      assert.deepStrictEqual(seen, result({ stdout: "[]\n" }))
      assert.deepStrictEqual(yield* run("echo [$x]"), result({ stdout: "[]\n" }))
    })
  )
})

describe("a command that is interrupted as it ends", () => {
  inSession("gives up its turn, and is told of with its output", ({ run }) =>
    Effect.gen(function* () {
      const told: Array<CommandResult> = []
      yield* run("true")
      const seen = yield* Effect.withFiberRuntime<CommandResult, unknown>((fiber) =>
        CallContext.locally(run("echo on"), {
          listener: {
            onOutput: () => fiber.unsafeInterruptAsFork(fiber.id()),
            onInterrupted: (result) => void told.push(result)
          }
        })
      ).pipe(Effect.fork, Effect.flatMap(Fiber.await))
      assert.isTrue(Exit.isInterrupted(seen))
      assert.deepStrictEqual(told, [result({ stdout: "on\n", exitCode: 130 })])
      assert.deepStrictEqual(yield* run("echo next"), result({ stdout: "next\n" }))
    })
  )

  inSession(
    "keeps the shell until what it has left running is over, and nothing runs by it afterwards",
    ({ run, session }) =>
      Effect.gen(function* () {
        let kept: BashSession.Execute | undefined
        const left = yield* session.exclusive((execute) => {
          kept = execute
          return Effect.zipLeft(Effect.forkDaemon(execute("sleep 0.2; x=1; echo left")), Effect.sleep(20))
        })
        assert.deepStrictEqual(yield* run("echo next $x"), result({ stdout: "next 1\n" }))
        assert.deepStrictEqual(yield* Fiber.join(left), result({ stdout: "left\n" }))
        const late = yield* Effect.flip(kept?.("echo late") ?? Effect.void)
        assert.include(String(late), "this turn is over")
        assert.deepStrictEqual(yield* run("echo on"), result({ stdout: "on\n" }))
      })
  )
})
