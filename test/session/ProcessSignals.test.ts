import { assert, describe, it, vi } from "@effect/vitest"
import * as ProcessSignals from "../../src/session/internal/ProcessSignals.js"

describe("ProcessSignals", () => {
  it("reach nobody by the numbers that mean everybody", () => {
    const sent: Array<unknown> = []
    const kill = vi.spyOn(process, "kill").mockImplementation((...args) => {
      sent.push(args)
      return true
    })
    try {
      for (const pid of [0, 1, -1]) ProcessSignals.send(pid, "SIGKILL")
      for (const group of [0, 1, -5]) ProcessSignals.sendToGroup(group, "SIGKILL")
      assert.deepStrictEqual(sent, [])
      ProcessSignals.send(2 ** 22 + 1, "SIGKILL")
      ProcessSignals.sendToGroup(2 ** 22 + 1, "SIGKILL")
    } finally {
      kill.mockRestore()
    }
    assert.deepStrictEqual(sent, [
      [2 ** 22 + 1, "SIGKILL"],
      [-(2 ** 22 + 1), "SIGKILL"]
    ])
    // Nobody has it, and that is no error.
    ProcessSignals.send(2 ** 22 + 1, "SIGKILL")
  })
})
