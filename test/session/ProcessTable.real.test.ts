/** Against real processes. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import * as ProcessTable from "../../src/session/ProcessTable.js"
import * as ShellEnvironment from "../../src/session/ShellEnvironment.js"

const children: Array<ChildProcess.ChildProcess> = []
const directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "processes-"))

afterEach(async () => {
  for (const child of children.splice(0)) {
    const gone = once(child, "exit")
    if (child.exitCode === null && child.signalCode === null) {
      ProcessTable.sendToGroup(child.pid ?? 0, "SIGKILL")
      await gone
    }
  }
})

/** Starts a script in a process group of its own, and waits until it says that it is there. */
const start = async (script: string, environment: Record<string, string> = {}): Promise<number> => {
  const child = ChildProcess.spawn("/bin/bash", ["-c", script], {
    detached: true,
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "ignore"]
  })
  children.push(child)
  await once(child.stdout, "data")
  return child.pid ?? 0
}

const pids = (processes: ReadonlyArray<ProcessTable.Process>) => processes.map((one) => one.pid).sort((a, b) => a - b)

const until = async (isSo: () => boolean): Promise<void> => {
  for (const end = performance.now() + 5000; !isSo() && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe("ProcessTable", () => {
  it("lists this process and its parent", () => {
    const mine = ProcessTable.list().find((one) => one.pid === process.pid)
    assert.strictEqual(mine?.parent, process.ppid)
  })

  it("reads a process whose name looks like the fields after it", async () => {
    const odd = Path.join(directory, "a) R 1 (b")
    Fs.copyFileSync("/bin/sleep", odd)
    Fs.chmodSync(odd, 0o755)
    const pid = await start(`"${odd}" 1000 & echo; wait`)
    await until(() => ProcessTable.descendants(ProcessTable.list(), pid).length === 1)
    const [child] = ProcessTable.descendants(ProcessTable.list(), pid)
    assert.deepStrictEqual(
      { parent: child?.parent, group: child?.group, session: child?.session },
      { parent: pid, group: pid, session: pid }
    )
    Fs.rmSync(directory, { recursive: true })
  })

  it("finds descendants at every depth, parents first", async () => {
    const pid = await start("(sleep 1000 & sleep 1000 & wait) & (sleep 1000; :) & sleep 1000 & echo; wait")
    await until(() => ProcessTable.descendants(ProcessTable.list(), pid).length === 6)
    const found = ProcessTable.descendants(ProcessTable.list(), pid)
    assert.strictEqual(found.length, 6)
    found.forEach((one, i) => {
      assert.isTrue(one.parent === pid || found.slice(0, i).some((before) => before.pid === one.parent))
    })
  })

  it("finds a session's members by descent, session and mark, and nobody else's", async () => {
    const before = ProcessTable.ticksAt(performance.now())
    const id = crypto.randomUUID()
    const mark = { [ShellEnvironment.sessionVariable]: id }
    const stranger = await start("sleep 1000 & echo; wait", { [ShellEnvironment.sessionVariable]: crypto.randomUUID() })
    const births = ProcessTable.countBirths()
    const pid = await start("sleep 1000 & setsid sleep 1000 & (setsid nohup sleep 1000 >/dev/null &); echo; wait", mark)
    assert.deepStrictEqual([stranger, pid].map(births()), [true, false])
    const members = () => ProcessTable.members(pid, id, before, births())
    await until(() => members().length === 4)
    assert.strictEqual(members().length, 4)
    assert.notInclude(pids(members()), stranger)
    assert.notInclude(pids(members()), process.pid)
    for (const one of members()) ProcessTable.send(one.pid, "SIGKILL")
    await until(() => members().length === 0)
    assert.deepStrictEqual(members(), [])
  })

  it("takes nothing for a descendant of a shell that has no pid", () => {
    assert.deepStrictEqual(ProcessTable.members(0, crypto.randomUUID(), 0), [])
  })

  it("leaves out what started before", async () => {
    const pid = await start("sleep 1000 & echo; wait")
    await new Promise((resolve) => setTimeout(resolve, 30))
    const later = ProcessTable.ticksAt(performance.now())
    assert.deepStrictEqual(ProcessTable.members(pid, "none", later), [])
    assert.isAtLeast(ProcessTable.members(pid, "none", 0).length, 1)
  })

  it("does not list the dead that nobody has waited for", async () => {
    const pid = await start("sleep 0.01 & exec perl -e '$| = 1; print 1; sleep 1000'")
    await until(() => ProcessTable.descendants(ProcessTable.list(), pid).length === 0)
    assert.deepStrictEqual(ProcessTable.descendants(ProcessTable.list(), pid), [])
  })

  it("finds a shell by its own pid below wrappers", async () => {
    const outer = await start('timeout 1000 bash -c "echo; exec sleep 1000"')
    await until(() => ProcessTable.descendants(ProcessTable.list(), outer).length > 0)
    const inner = ProcessTable.descendants(ProcessTable.list(), outer).at(-1)?.pid ?? 0
    assert.strictEqual(ProcessTable.find(outer, inner), inner)
    assert.isUndefined(ProcessTable.find(outer, 2 ** 22 + 1))
  })

  it("ends a chain that forks as fast as it can", async () => {
    const pid = await start("f() { sleep 0.002; (f); }; echo; f")
    await until(() => ProcessTable.descendants(ProcessTable.list(), pid).length > 10)
    ProcessTable.sendToGroup(pid, "SIGKILL")
    await until(() => !ProcessTable.list().some((one) => one.group === pid))
    assert.deepStrictEqual(
      ProcessTable.list().filter((one) => one.group === pid),
      []
    )
  })
})
