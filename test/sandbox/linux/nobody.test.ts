import { describe } from "@effect/vitest"
import { confined } from "./confinement.js"
import { crowd } from "./crowd.js"
import { live } from "./live.js"
import { becomeNobody } from "./Sandboxed.js"
import { sandboxed } from "./suite.js"

describe.skipIf(process.platform !== "linux" || !becomeNobody())("as an ordinary user", () => {
  sandboxed("with a door", undefined)
  sandboxed("by bubblewrap alone", "single")
  confined("confined, with a door", undefined)
  confined("confined by bubblewrap alone", "single")
  live("while it runs")
  crowd("among many")
})
