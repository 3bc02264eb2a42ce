import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { Blocked } from "../src/domain/CommandError.js"
import * as Synapse from "../src/Synapse.js"
import * as TestSynapse from "../src/TestSynapse.js"
import { Toolset } from "../src/toolset/Toolset.js"

describe("Synapse.teardown", () => {
  it("tells success, failure and interruption by the signal that came first", () => {
    const codes = (...signals: ReadonlyArray<NodeJS.Signals>) => {
      const teardown = Synapse.teardown()
      // The listeners alone: no signal is sent.
      for (const signal of signals) process.listeners(signal).at(-1)?.(signal)
      const found: Array<number> = []
      for (const exit of [Exit.void, Exit.fail("no"), Exit.interrupt(FiberId.none)])
        teardown(exit, (code) => found.push(code))
      for (const signal of ["SIGINT", "SIGTERM"] as const)
        process.removeListener(signal, process.listeners(signal).at(-1) as () => void)
      return found
    }
    assert.deepStrictEqual(
      [codes(), codes("SIGINT"), codes("SIGTERM")],
      [
        [0, 1, 130],
        [0, 1, 130],
        [0, 1, 143]
      ]
    )
  })
})

describe("TestSynapse", () => {
  it.effect("answers with a denial of the policy", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      const { extras } = yield* toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"cat /x"}' })
      assert.deepStrictEqual([extras.exitCode, extras.failureCategory], [126, "blocked"])
    }).pipe(Effect.provide(TestSynapse.layer(() => new Blocked({ resource: "/x", rule: "/x", reason: "no" }))))
  )
})
