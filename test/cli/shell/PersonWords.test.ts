import { assert, describe, it } from "@effect/vitest"
import * as PersonWords from "../../../src/cli/shell/PersonWords.js"
import type * as Diagnostic from "../../../src/domain/Diagnostic.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"

const denied = (exist: boolean, ...paths: ReadonlyArray<string>) =>
  ({
    message: "",
    extras: {
      blocked: true,
      denied: { what: "it", ran: true, allow: { exist, paths } }
    }
  }) as unknown as ToolReturn

describe("what a person is told of a denied write", () => {
  it("can be done in the shell that says it", () => {
    const told = (allowing: Diagnostic.Allowing, exist: boolean, ...paths: ReadonlyArray<string>) =>
      PersonWords.reasonOf(denied(exist, ...paths), allowing).replace(/^.*\n/, "")
    assert.strictEqual(told("/allow", true, "/usr/share"), "To let commands write there: /allow /usr/share")
    assert.strictEqual(
      told("/allow", false, "/etc/nosuch"),
      "To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow /etc/nosuch"
    )
    assert.strictEqual(
      told("synapse sandbox allow", false, "/etc/nosuch"),
      "To let commands write there, make it, and then: synapse sandbox allow /etc/nosuch"
    )
  })
})
