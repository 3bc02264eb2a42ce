/** Against real processes: who holds a reader's standard input is killed, and nobody else. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import * as ShellSupervisor from "../../src/session/internal/ShellSupervisor.js"
import * as ProcessTable from "../../src/session/ProcessTable.js"

/** Begins before each process of a test, so that all of them count as started since. */
const since = ProcessTable.ticksAt(performance.now()) - 100

const sleeping = (stdin: "ignore" | "pipe") =>
  ChildProcess.spawn("sleep", ["1000"], { stdio: [stdin, "ignore", "ignore"] })

describe.skipIf(process.platform !== "linux")("ProtocolInput", () => {
  it("kills what else holds the standard input of the reader", async () => {
    const reader = ChildProcess.spawn("bash", ["-c", "exec 3<&0; sleep 1000 <&3 3<&- & echo on; exec 3<&-; wait"], {
      stdio: ["pipe", "pipe", "ignore"]
    })
    try {
      await once(reader.stdout, "data")
      const names = ShellSupervisor.reserve(reader.pid ?? 0, since)
      assert.include(["sleep", "bash"], names[0])
      await once(reader, "exit")
      assert.deepStrictEqual([reader.exitCode, names.length], [0, 1])
    } finally {
      reader.kill("SIGKILL")
    }
  })

  it("kills nobody for a standard input that any process may have, as one has that got the pid of a dead reader", async () => {
    const [reader, bystander] = [sleeping("ignore"), sleeping("ignore")]
    try {
      assert.strictEqual(ShellSupervisor.inputOf(reader.pid ?? 0), "/dev/null")
      assert.include(ShellSupervisor.holders("/dev/null", reader.pid ?? 0, since), bystander.pid)
      assert.deepStrictEqual(ShellSupervisor.reserve(reader.pid ?? 0, since), [])
      bystander.kill("SIGTERM")
      const [, signal] = await once(bystander, "exit")
      assert.strictEqual(signal, "SIGTERM")
    } finally {
      for (const one of [reader, bystander]) one.kill("SIGKILL")
    }
  })

  it("does nothing for a reader that has ended", async () => {
    const reader = sleeping("pipe")
    reader.kill("SIGKILL")
    await once(reader, "exit")
    assert.deepStrictEqual(ShellSupervisor.reserve(reader.pid ?? 0, since), [])
  })
})
