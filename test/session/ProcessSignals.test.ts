import { assert, describe, it, vi } from "@effect/vitest"
import * as ProcessTable from "../../src/session/ProcessTable.js"

describe("ProcessSignals", () => {
  it("reach nobody by the numbers that mean everybody", () => {
    const sent: Array<unknown> = []
    const kill = vi.spyOn(process, "kill").mockImplementation((...args) => {
      sent.push(args)
      return true
    })
    try {
      for (const pid of [0, 1, -1]) ProcessTable.send(pid, "SIGKILL")
      for (const group of [0, 1, -5]) ProcessTable.sendToGroup(group, "SIGKILL")
      assert.deepStrictEqual(sent, [])
      ProcessTable.send(2 ** 22 + 1, "SIGKILL")
      ProcessTable.sendToGroup(2 ** 22 + 1, "SIGKILL")
    } finally {
      kill.mockRestore()
    }
    assert.deepStrictEqual(sent, [
      [2 ** 22 + 1, "SIGKILL"],
      [-(2 ** 22 + 1), "SIGKILL"]
    ])
    // Nobody has it, and that is no error.
    ProcessTable.send(2 ** 22 + 1, "SIGKILL")
  })
})
