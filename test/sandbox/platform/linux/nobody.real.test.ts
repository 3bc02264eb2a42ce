import { describe } from "@effect/vitest"
import { becomeNobody } from "../../../support/sandbox/Sandboxed.js"
import { confined } from "./confinement.suite.js"
import { crowd } from "./crowd.suite.js"
import { live } from "./live.suite.js"
import { sandboxed } from "./policy.suite.js"

describe.skipIf(process.platform !== "linux" || !becomeNobody())("as an ordinary user", () => {
  sandboxed("with a door", undefined)
  sandboxed("by bubblewrap alone", "single")
  confined("confined, with a door", undefined)
  confined("confined by bubblewrap alone", "single")
  live("while it runs")
  crowd("among many", false)
})
