/** Gives each file of real tests the environment of the run, with a TMPDIR of its own, and notes its cost for the reporters. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import { afterAll, beforeEach } from "vitest"

declare module "vitest" {
  interface TaskMeta {
    /** Seconds of CPU of the file's process, while it ran the file, and of the children that have ended meanwhile. */
    cpu?: number
    /** What the file has left in its temporary directory. */
    left?: ReadonlyArray<string>
  }
}

const ticksPerSecond = 100

const cpu = (): number => {
  const { system, user } = process.cpuUsage()
  const own = (system + user) / 1e6
  if (process.platform !== "linux") return own
  const [, children] = /^.*\) (?:\S+ ){13}(\S+ \S+) /s.exec(Fs.readFileSync("/proc/self/stat", "utf8")) ?? []
  const ticks = (children ?? "0 0").split(" ").map(Number)
  return own + ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond
}

const state = globalThis as { synapseTestEnvironment?: NodeJS.ProcessEnv }
state.synapseTestEnvironment ??= { ...process.env }
for (const name of Object.keys(process.env)) if (!(name in state.synapseTestEnvironment)) delete process.env[name]
Object.assign(process.env, state.synapseTestEnvironment)

const directory = Fs.mkdtempSync(`${Os.tmpdir()}/`)
// As /tmp: some files become an ordinary user.
Fs.chmodSync(directory, 0o1777)
process.env["TMPDIR"] = directory

// A try after one that took too long would get that one's signal, which has ended it before it begins.
beforeEach((context) => {
  if (context.signal.aborted) Object.assign(context, { signal: AbortSignal.timeout(context.task.timeout) })
})

const before = cpu()
afterAll(({ meta }) => {
  meta.cpu = cpu() - before
  meta.left = Fs.readdirSync(directory)
})
