import { assert, describe, it } from "@effect/vitest"
import * as PersonWords from "../../../src/cli/shell/PersonWords.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"

const denied = (blockedResource: string) =>
  ({
    message: "",
    extras: {
      blocked: true,
      denied: { what: "it", ran: true },
      blockedResource,
      blockedRule: PolicyDecision.notWhitelisted.pattern
    }
  }) as unknown as ToolReturn

describe("what a person is told of a denied write", () => {
  it("can be done in the shell that says it", () => {
    const told = (allow: string, path: string) => PersonWords.reasonOf(denied(path), allow, "/p").replace(/^.*\n/, "")
    assert.strictEqual(told("/allow", "/usr/share"), "To let commands write there: /allow /usr/share")
    assert.strictEqual(
      told("/allow", "/etc/nosuch"),
      "To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow /etc/nosuch"
    )
    assert.strictEqual(
      told("synapse sandbox allow", "/etc/nosuch"),
      "To let commands write there, make it, and then: synapse sandbox allow /etc/nosuch"
    )
  })
})
