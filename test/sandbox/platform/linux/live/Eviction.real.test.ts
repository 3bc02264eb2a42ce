import * as ChildProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Eviction from "../../../../../src/sandbox/platform/linux/live/internal/Eviction.js"
import * as ProcessTable from "../../../../../src/session/ProcessTable.js"
import * as Temporary from "../../../../support/Temporary.js"

/** Four processes, each of which lets all of its group go on without end, and writes that it runs. */
const group = `
$| = 1;
for (1 .. 3) { last if !fork }
my $n = 0;
while (1) {
  kill 'CONT', -$$ for 1; kill 'CONT', -getpgrp();
  if (++$n % 100 == 0) { open my $f, '>', "ran.$$"; print $f $n; close $f }
}`

describe.skipIf(process.platform !== "linux")("processes that let one another go on", () => {
  it("are stopped all the same, and go on afterwards", () =>
    Temporary.using(async (directory) => {
      fs.writeFileSync(path.join(directory, "group.pl"), group)
      const child = ChildProcess.spawn("bash", ["-c", "setsid perl group.pl & wait"], { cwd: directory })
      const ran = () =>
        fs
          .readdirSync(directory)
          .filter((name) => name.startsWith("ran."))
          .map((name) => fs.readFileSync(path.join(directory, name), "utf8"))
      const until = async (isSo: () => boolean) => {
        while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
      }
      const stopAll = async (): Promise<ReadonlySet<number>> => {
        for (;;) {
          const stopped = Eviction.stopAll(child.pid ?? 0)
          if (stopped !== undefined) return stopped
        }
      }
      try {
        await until(() => ran().length === 4)
        for (let round = 0; round < 10; round++) {
          const stopped = await stopAll()
          await until(() => [...stopped].every((pid) => ProcessTable.stat(pid)?.state === "T"))
          const before = ran()
          await new Promise((resolve) => setTimeout(resolve, 20))
          assert.deepStrictEqual(ran(), before)
          Eviction.goOn(stopped)
          await until(() => ran().every((text, at) => text !== "" && text !== before[at]))
        }
      } finally {
        for (const pid of Eviction.stopAll(child.pid ?? 0) ?? []) process.kill(pid, "SIGKILL")
        child.kill("SIGKILL")
      }
    }))
})
