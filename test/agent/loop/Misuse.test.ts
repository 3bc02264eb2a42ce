import { assert, describe, it } from "@effect/vitest"
import * as TurnCalls from "../../../src/agent/loop/internal/TurnCalls.js"
import { CommandNotFound, InvalidUsage } from "../../../src/domain/CommandError.js"
import type { Extras } from "../../../src/toolset/ToolReturn.js"
import * as ToolReturn from "../../../src/toolset/ToolReturn.js"

const done = (command: string, extras: Extras) => {
  const call = { id: "1", name: "Bash", arguments: JSON.stringify({ command }) }
  return { call, result: { toolCallId: "1", isError: extras.exitCode !== 0, output: "", message: "", extras } }
}
const refused = (error: CommandNotFound | InvalidUsage) => {
  const call = { id: "1", name: "Bash", arguments: "{}" }
  return { call, result: ToolReturn.fromError(call, error) }
}
const wrong = refused(new InvalidUsage({ reason: "no" }))
const unknown = refused(new CommandNotFound({ command: "x", reason: "no" }))
const fine = done("ls", { exitCode: 0 })
const failed = done("false", { exitCode: 1, failureCategory: "execution_error" })
const missing = (command: string) => done(command, { exitCode: 127, failureCategory: "command_not_found" })

const count = (...turns: ReadonlyArray<ReadonlyArray<ReturnType<typeof done>>>) =>
  turns.reduce(TurnCalls.nextMisuse, TurnCalls.noMisuse).count

describe("Misuse", () => {
  it("counts turns of wrong calls in a row", () => {
    assert.strictEqual(count([wrong], [unknown], [wrong]), TurnCalls.mostMisuses)
    assert.strictEqual(count([wrong], [wrong], [fine], [wrong]), 1)
    assert.strictEqual(count([wrong], [failed]), 0)
  })

  it("counts the wrong calls of one turn once, and not beside one that was right", () => {
    assert.strictEqual(count([wrong, wrong, unknown]), 1)
    assert.strictEqual(count([wrong], [wrong, fine]), 0)
    assert.strictEqual(count([]), 0)
  })

  it("counts a Synapse command that was used wrongly, where it is all of the line, and the same again", () => {
    const extras = { exitCode: 1, failureCategory: "invalid_usage" } as const
    assert.strictEqual(count([done("edit f --bogus", extras)], [done("edit f --bogus", extras)]), 2)
    assert.strictEqual(count([done("make; edit f --bogus | cat", extras)]), 0)
    const error = { ...extras, error: "InvalidUsage" } as const
    assert.strictEqual(count([done("TodoWrite x", error)], [done("edit a a a", error)], [done("read", error)]), 1)
    assert.strictEqual(count([done("read", error)], [done("read", error)], [done("read", error)]), 3)
    const none = { exitCode: 127, failureCategory: "command_not_found", error: "CommandNotFound" } as const
    assert.strictEqual(count([done("skill:load a", none)], [done("skill:load b", none)]), 1)
    assert.strictEqual(count([wrong], [done("read", error)], [wrong]), 1)
  })

  it("counts arguments that are none of the tool as such, whatever the command", () => {
    const extras: Extras = { exitCode: 1, failureCategory: "invalid_usage", error: "InvalidUsage" }
    const given = (args: object) => ({
      ...done("", extras),
      call: { id: "1", name: "Bash", arguments: JSON.stringify(args) }
    })
    assert.strictEqual(count([given({ command: "a", timeout: "x" })], [given({ command: "b", more: 1 })], [wrong]), 3)
  })

  it("says what was wrong", () => {
    assert.strictEqual(
      TurnCalls.describeMisuse({ count: 3, commands: undefined }),
      "The model called its tool wrongly in 3 turns in a row."
    )
    assert.strictEqual(
      TurnCalls.describeMisuse({ count: 3, commands: "read" }),
      'The same command failed in 3 turns in a row: "read".'
    )
  })

  it("a missing program is no misuse until it is called again; within a longer line it never is", () => {
    assert.strictEqual(count([missing("rg a")], [missing("ag a")], [missing("ack a")], [missing("pt a")]), 1)
    assert.strictEqual(count([missing("rg a")], [missing("rg b")], [missing("rg c")]), 3)
    assert.strictEqual(count([missing("cd x; rg a")], [missing("cd x; rg a")], [missing("cd x; rg a")]), 0)
  })

  it("does not count what was blocked, interrupted or ended by its timeout", () => {
    const others: ReadonlyArray<Extras> = [
      { exitCode: 126, failureCategory: "blocked", error: "Blocked" },
      { exitCode: 124, failureCategory: "execution_error", error: "ExecutionFailed" },
      { exitCode: 130, interrupted: true }
    ]
    for (const extras of others) assert.strictEqual(count([wrong], [done("x", extras)]), 0)
  })
})
