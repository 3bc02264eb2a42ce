/** Against real processes: what `/proc` tells of them. */

import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import * as ProcessTable from "../../src/session/ProcessTable.js"

describe("ProcessFiles", () => {
  it("knows that a process was killed from the very moment on, while the kernel still frees its memory", async () => {
    for (let round = 0; round < 10; round++) {
      const child = ChildProcess.spawn("bash", ["-c", "x=$(head -c 3000000 /dev/zero | tr '\\0' a); echo; read"], {
        stdio: ["pipe", "pipe", "ignore"]
      })
      const pid = child.pid ?? 0
      await once(child.stdout, "data")
      assert.isFalse(ProcessTable.isKilled(pid))
      child.kill("SIGKILL")
      // The child is reaped by the event loop, so it is there all the time.
      for (let look = 0; look < 50; look++) assert.isTrue(ProcessTable.isKilled(pid), `look ${look}`)
      await once(child, "close")
      assert.isTrue(ProcessTable.isKilled(pid))
    }
  })
})
