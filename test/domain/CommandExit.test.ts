import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as FiberId from "effect/FiberId"
import * as Advice from "../../src/domain/Advice.js"
import { CommandNotFound, timedOut } from "../../src/domain/CommandError.js"
import * as CommandExit from "../../src/domain/CommandExit.js"
import * as CommandResult from "../../src/domain/CommandResult.js"

describe("CommandExit", () => {
  it("tells an error, an interruption and a defect from one another", () => {
    const error = timedOut(5)
    assert.deepStrictEqual(
      { ...CommandExit.fromCause(Cause.fail(error), "x") },
      { _tag: "Failed", error, text: error.message, exitCode: 124, category: "execution_error" }
    )
    assert.deepStrictEqual(
      { ...CommandExit.fromCause(Cause.interrupt(FiberId.none), "x") },
      { _tag: "Interrupted", text: "Command interrupted before it ended.", exitCode: 130 }
    )
    assert.strictEqual(
      CommandExit.fromCause(Cause.interrupt(FiberId.none), "x", Advice.model, { began: false }).text,
      "Command cancelled before it began: it was not run."
    )
    for (const [defect, reason] of [
      [new Error("oh"), "oh"],
      ["odd", "odd"],
      [undefined, "undefined"],
      [new TypeError(""), "TypeError"]
    ] as const) {
      assert.deepStrictEqual(
        { ...CommandExit.fromCause(Cause.die(defect), "The tool X") },
        { _tag: "Died", text: `The tool X failed unexpectedly: ${reason}`, exitCode: 1, category: "execution_error" }
      )
    }
    const both = Cause.parallel(Cause.interrupt(FiberId.none), Cause.fail(error))
    assert.strictEqual(CommandExit.fromCause(both, "x")._tag, "Failed")
  })

  it("says an error to whoever reads it", () => {
    const error = new CommandNotFound({
      command: "x",
      reason: "no x",
      advice: [Advice.line`${Advice.run("read x")} helps.`]
    })
    const texts = [Advice.model, Advice.person].map((audience) => {
      const exit = CommandExit.fromCause(Cause.fail(error), "x", audience)
      return exit._tag === "Failed" ? exit.text : undefined
    })
    assert.deepStrictEqual(texts, ['no x\nBash(command="read x") helps.', "no x\n`read x` helps."])
  })
})

describe("CommandResult", () => {
  it("says its advice on standard error, once", () => {
    const advice = [Advice.line`more: read f`]
    const result = CommandResult.make({ stderr: "a\n", advice })
    const said = CommandResult.say(result, Advice.model)
    assert.deepStrictEqual(said, CommandResult.make({ stderr: "a\nmore: read f\n" }))
    assert.strictEqual(CommandResult.say(said, Advice.model), said)
  })
})
