/** What the sandbox costs: for a command, at the start, on a large tree; and a hundred of them at once. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { SandboxManager } from "../../src/sandbox/SandboxManager.js"
import * as Table from "./Table.js"

const ground = fs.mkdtempSync(path.join(os.homedir(), ".synapse-bench-"))

/** An app for a directory of its own, whose temporary files lie there too: nothing else is walked. */
const app = (name: string, enabled: boolean, blacklist: ReadonlyArray<string> = []) => {
  const cwd = path.join(ground, name)
  fs.mkdirSync(cwd, { recursive: true })
  const sandbox = { enabled, temporary: cwd, home: path.join(ground, "home"), blacklist }
  const runtime = ManagedRuntime.make(Synapse.layer({ cwd }, { sandbox }))
  const run = (command: string, times = 1) =>
    runtime.runPromise(Effect.flatMap(SandboxManager, (manager) => Effect.repeatN(manager.execute(command), times - 1)))
  return { cwd, run, dispose: () => runtime.dispose() }
}

type App = ReturnType<typeof app>

const commands = 100

/** Microseconds a command. */
const perCommand = async (of: App, command: string) => {
  const start = performance.now()
  await of.run(command, commands)
  return ((performance.now() - start) * 1000) / commands
}

/** Commands until the engine has compiled what runs each of them. */
const warming = 3000

const compare = async (free: App, held: App, command: string) => {
  await Table.print(
    [
      { name: "unsandboxed", run: () => perCommand(free, command) },
      { name: "sandboxed", run: () => perCommand(held, command) }
    ],
    { title: `a command: ${command}`, unit: "µs", samples: 31, goals: { sandboxed: 1.1 } }
  )
}

const start = (name: string, enabled: boolean) => async () => {
  const one = app(name, enabled)
  const began = performance.now()
  await one.run("true")
  const took = performance.now() - began
  await one.dispose()
  return took
}

/**
 * Bubblewrap alone, with the namespaces and mounts of a sandbox without masks, from within a mount namespace whose mounts
 * can be changed: the least that any sandbox costs. It runs next to nothing, and bash's own start is not in it.
 */
const bubblewrapAlone = () => {
  const apart = ["--mount", "--propagation"]
  const isolation = "--unshare-all --unshare-user --disable-userns --cap-drop ALL --die-with-parent --new-session"
  const mounts =
    "--ro-bind / / --dev /dev --perms 1777 --size 67108864 --tmpfs /dev/shm --remount-ro /dev " +
    "--proc /proc --ro-bind /proc/sys /proc/sys --perms 0755 --size 16777216 --tmpfs /run " +
    "--perms 1777 --size 268435456 --tmpfs /tmp --perms 1777 --size 268435456 --tmpfs /var/tmp"
  const bubblewrap = ["bwrap", ...isolation.split(" "), ...mounts.split(" "), "--bind", ground, ground, "true"]
  const doorway = process.getuid?.() === 0 ? [...apart, "private", "unshare", ...apart, "shared"] : []
  const words = doorway.length === 0 ? bubblewrap : ["unshare", ...doorway, ...bubblewrap]
  const { status, stderr } = spawnSync(words[0] ?? "", words.slice(1), { encoding: "utf8" })
  if (status !== 0) throw new Error(`bwrap alone: ${stderr}`)
}

/** Counts processes in Synapse's directories, its plans, and process groups. */
const left = (): number => {
  const entries = (directory: string, start: string) =>
    fs.existsSync(directory) ? fs.readdirSync(directory).filter((name) => name.startsWith(start)) : []
  const processes = entries("/proc", "").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(ground)
    } catch {
      return false
    }
  })
  const plans = entries(path.join(os.homedir(), ".synapse", "run"), `sandbox-${process.pid.toString(36)}.`)
  const groups = ["/sys/fs/cgroup", "/sys/fs/cgroup/pids"].flatMap((path) => entries(path, `synapse-${process.pid}-`))
  return processes.length + plans.length + groups.length
}

const secrets = (name: string, count: number) => {
  for (let at = 0; at < count; at++) {
    const directory = path.join(ground, name, String(at))
    fs.mkdirSync(directory, { recursive: true })
    fs.writeFileSync(path.join(directory, ".env"), "SECRET")
  }
}

const tree = (name: string) => {
  for (let at = 0; at < 1000; at++) {
    const directory = path.join(ground, name, String(at % 30), String(at))
    fs.mkdirSync(directory, { recursive: true })
    for (let file = 0; file < 99; file++) fs.writeFileSync(path.join(directory, `file-${file}.ts`), "")
  }
}

try {
  const free = app("command", false)
  const held = app("command", true)
  for (const one of [free, held, free, held]) await one.run("true", warming / 2)
  for (const command of ["true", "/bin/true", "ls -la /usr"]) await compare(free, held, command)
  await Promise.all([free.dispose(), held.dispose()])

  secrets("50", 50)
  secrets("500", 500)
  const starts = await Table.print(
    [
      { name: "bash", run: start("none", false) },
      { name: "sandbox", run: start("none", true) },
      { name: "sandbox with 50 masked files", run: start("50", true) },
      { name: "sandbox with 500 masked files", run: start("500", true) },
      { name: "bubblewrap alone, without a shell of ours", run: bubblewrapAlone }
    ],
    { title: "start, and the first command", samples: 21 }
  )
  const goal = (at: number, most: number) => {
    const over = (starts[at]?.median ?? Number.NaN) - (starts[0]?.median ?? Number.NaN)
    return `${starts[at]?.name}: ${over.toFixed(0)} ms over bash (at most ${most}: ${over <= most ? "met" : "MISSED"})`
  }
  const floor = starts[4]?.median ?? Number.NaN
  console.log(`${goal(2, 25)}\n${goal(3, 100)}\nof these, bubblewrap alone takes ${floor.toFixed(0)} ms\n`)

  tree("tree")
  const globs = Array.from({ length: 10 }, (_, at) => `**/secret-${at}.*`)
  const find = () => void spawnSync("find", [path.join(ground, "tree"), "-name", "*.nothing"])
  const small = await Table.sample([{ name: "small", run: start("none", true) }], 5)
  await Table.print(
    [
      { name: "find", run: find },
      {
        name: "sandbox with 15 globs, less one on an empty directory",
        run: async () => {
          const one = app("tree", true, globs)
          const began = performance.now()
          await one.run("true")
          const took = performance.now() - began - (small[0]?.median ?? 0)
          await one.dispose()
          return took
        }
      }
    ],
    {
      title: "a tree of 100,000 files",
      samples: 7,
      goals: { "sandbox with 15 globs, less one on an empty directory": 2 }
    }
  )

  const began = performance.now()
  await Promise.all(Array.from({ length: 100 }, (_, at) => start(`at-once-${at}`, true)()))
  console.log(`100 sandboxes at once, started, run and disposed: ${(performance.now() - began).toFixed(0)} ms`)
  console.log(`left of them: ${left()} processes and directories (at most 0: ${left() === 0 ? "met" : "MISSED"})\n`)
} finally {
  fs.rmSync(ground, { recursive: true, force: true })
}
