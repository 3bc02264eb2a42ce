/** What 50 sessions of one process cost that start at once, in a project of 50,000 files: time, CPU and memory. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"

const count = Number(process.env["SESSIONS"] ?? 50)
const ground = fs.mkdtempSync(path.join(os.homedir(), ".synapse-sessions-"))

/** A project with 2,000 directories, two deep, of 25 files each. */
const project = (): string => {
  const root = path.join(ground, "project")
  for (let at = 0; at < 2000; at++) {
    const directory = path.join(root, String(at % 100), String(at))
    fs.mkdirSync(directory, { recursive: true })
    for (let file = 0; file < 25; file++) fs.writeFileSync(path.join(directory, `file-${file}.txt`), "")
  }
  fs.writeFileSync(path.join(root, ".env"), "SECRET")
  return root
}

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MB`

try {
  const cwd = project()
  const apps = Array.from({ length: count }, () =>
    ManagedRuntime.make(Synapse.layer({ cwd }, { sandbox: { home: path.join(ground, "home") } }))
  )
  globalThis.gc?.()
  const memory = process.memoryUsage().rss
  const cpu = process.cpuUsage()
  const began = performance.now()
  const run = (command: string) =>
    Promise.all(
      apps.map((app) => app.runPromise(Effect.flatMap(SandboxManager, (manager) => manager.execute(command))))
    )
  const results = await run("true")
  const took = performance.now() - began
  const { system, user } = process.cpuUsage(cpu)
  globalThis.gc?.()
  const more = process.memoryUsage().rss - memory
  const failed = results.filter(({ exitCode }) => exitCode !== 0).length
  console.log(
    `${count} sessions: ${(took / 1000).toFixed(2)} s (at most 5), CPU ${(user / 1e6).toFixed(2)} s + ${(system / 1e6).toFixed(2)} s, ${megabytes(more)} (at most 200)${failed === 0 ? "" : `, ${failed} FAILED`}`
  )
  const again = performance.now()
  await run("true")
  console.log(`a command in each: ${(performance.now() - again).toFixed(0)} ms`)
  const ending = performance.now()
  await Promise.all(apps.map((app) => app.dispose()))
  console.log(`their end: ${(performance.now() - ending).toFixed(0)} ms`)
} finally {
  fs.rmSync(ground, { recursive: true, force: true })
}
