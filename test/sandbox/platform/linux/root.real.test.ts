import { describe } from "@effect/vitest"
import { confined } from "./confinement.suite.js"
import { crowd } from "./crowd.suite.js"
import { live } from "./live.suite.js"
import { sandboxed } from "./policy.suite.js"

describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("as root", () => {
  sandboxed("with a door", undefined)
  sandboxed("by way of a user namespace", "user")
  sandboxed("by bubblewrap alone", "single")
  confined("confined, with a door", undefined)
  confined("confined by bubblewrap alone", "single")
  live("while it runs")
  crowd("among many", true)
})
