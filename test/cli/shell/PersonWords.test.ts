import { assert, describe, it } from "@effect/vitest"
import * as PersonWords from "../../../src/cli/shell/PersonWords.js"
import * as Diagnostic from "../../../src/domain/Diagnostic.js"
import type { Extras, ToolReturn } from "../../../src/toolset/ToolReturn.js"

const ended = (extras: Extras): ToolReturn => ({
  toolCallId: "1",
  isError: true,
  output: "",
  message: "It ended.",
  extras
})

const denied = (exist: boolean, ...paths: ReadonlyArray<string>): ToolReturn =>
  ended({
    blocked: true,
    denied: {
      _tag: "Denial",
      what: "it",
      ran: true,
      also: [],
      allow: { exist, paths }
    } as Partial<Diagnostic.Denial> as Diagnostic.Denial
  })

describe("what a person is told of a denied write", () => {
  it("can be done in the shell that says it", () => {
    const told = (place: Diagnostic.Place, exist: boolean, ...paths: ReadonlyArray<string>) =>
      PersonWords.told(denied(exist, ...paths), ["a hint"], place).map((text) => text.replace(/^.*\n/, ""))
    assert.deepStrictEqual(told(Diagnostic.shell, true, "/usr/share"), [
      "To let commands write there: /allow /usr/share"
    ])
    assert.deepStrictEqual(told(Diagnostic.shell, false, "/etc/nosuch"), [
      "To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow /etc/nosuch"
    ])
    assert.deepStrictEqual(told({ isShell: false }, false, "/etc/nosuch"), [
      "To let commands write there, make it, and then: synapse sandbox allow /etc/nosuch"
    ])
  })
})

describe("what a person is told of the end of a command", () => {
  const told = (extras: Extras, knowsEnd = false) =>
    PersonWords.told(ended(extras), ["a hint"], { isShell: false }, knowsEnd)

  it("is why it ended, or else what probably went wrong", () => {
    assert.deepStrictEqual(told({ error: "ExecutionFailed" }), ["It ended."])
    assert.deepStrictEqual(told({ interrupted: true }), ["It ended."])
    assert.deepStrictEqual(told({ interrupted: true }, true), [])
    assert.deepStrictEqual(told({ blocked: true, blockedReason: "no" }), ["no"])
    assert.deepStrictEqual(told({ exitCode: 1 }), ["a hint"])
  })

  it("is followed by what concerns the person; what was allowed needs no denial", () => {
    const changed = Diagnostic.notice("f was changed.", "changed")
    assert.deepStrictEqual(told({ diagnostics: [Diagnostic.notice("A new shell."), changed] }), [
      "a hint",
      changed.text
    ])
    const allowed = Diagnostic.notice("Allowed: /p", "allowed")
    assert.deepStrictEqual(told({ blocked: true, blockedReason: "no", diagnostics: [allowed] }), [allowed.text])
  })
})
