/** Against a real bash: the end of a turn. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as CallContext from "../../src/domain/CallContext.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import { inSession, result } from "../support/Session.js"

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
})
