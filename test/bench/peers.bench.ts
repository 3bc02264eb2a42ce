/**
 * Synapse beside others that run an agent's commands, in the same run. What can't be installed or fails here is left out
 * with a line. `docs/limits.md` has a table of a quiet run.
 */
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Table from "./Table.js"

const node = process.execPath
const synapse = path.resolve("dist/bin/synapse.cjs")
const ground = fs.mkdtempSync(path.join(os.homedir(), ".synapse-peers-"))
const peers = path.join(ground, "peers")
const [empty, masked, large] = [`${ground}/empty`, `${ground}/masked`, `${ground}/large`] as const
const bin = (name: string) => path.join(peers, "node_modules/.bin", name)

const run = (file: string, args: ReadonlyArray<string>, cwd: string, env: NodeJS.ProcessEnv = {}): string => {
  const { error, status, stderr, stdout } = spawnSync(file, args, {
    cwd,
    env: { ...process.env, SYNAPSE_DAEMON: "0", ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 300_000
  })
  if (status !== 0)
    throw new Error(error?.message ?? `exit code ${status}: ${stderr.trim().split("\n").at(-1)?.slice(0, 200)}`)
  return stdout
}

/** Runs a script of a package's users, which prints what it measured. */
const script = (name: string, code: string, cwd: string, head = ""): Table.Row => ({
  name,
  run: () => Number(run(node, ["--expose-gc", "--input-type=module", "-e", `${head}\n${code}`], cwd))
})

/** Prints a table of the rows that work here. */
const print = async (title: string, rows: ReadonlyArray<Table.Row>, samples: number, unit = "ms"): Promise<void> => {
  const working: Array<Table.Row> = []
  for (const row of rows) {
    try {
      await row.run()
      working.push(row)
    } catch (error) {
      console.log(`left out: ${row.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  await Table.print(working, { title, samples, unit })
}

/** How each one runs a command that it is given once, by its program. */
const programs: ReadonlyArray<readonly [string, (cwd: string, masked: ReadonlyArray<string>) => unknown]> = [
  ["bash -c true", (cwd) => run("bash", ["-c", "true"], cwd)],
  [
    "bwrap",
    (cwd, masked) => {
      const masks = masked.flatMap((file) => ["--ro-bind", "/dev/null", file])
      const words = ["--ro-bind", "/", "/", "--bind", cwd, cwd, ...masks, "--dev", "/dev", "--proc", "/proc"]
      run("bwrap", [...words, "--unshare-all", "--", "bash", "-c", "true"], cwd)
    }
  ],
  ["synapse exec", (cwd) => run(node, [synapse, "exec", "true"], cwd)],
  ["synapse exec, a shell ready", (cwd) => run(node, [synapse, "exec", "true"], cwd, { SYNAPSE_DAEMON: "auto" })],
  [
    "srt",
    (cwd, masked) => {
      const settings = path.join(ground, "srt.json")
      const filesystem = { denyRead: masked, allowWrite: [cwd], denyWrite: [] }
      fs.writeFileSync(settings, JSON.stringify({ network: { allowedDomains: [], deniedDomains: [] }, filesystem }))
      run(bin("srt"), ["--settings", settings, "true"], cwd)
    }
  ],
  ["codex sandbox", (cwd) => run(bin("codex"), ["sandbox", "true"], cwd)],
  ["just-bash", (cwd) => run(bin("just-bash"), ["-c", "true"], cwd)]
]

const starts = (cwd: string, masked: ReadonlyArray<string> = []): ReadonlyArray<Table.Row> =>
  programs
    .filter(([name]) => masked.length === 0 || !/^(?:bash|codex|just)/.test(name))
    .map(([name, start]) => ({ name, run: () => void start(cwd, masked) }))

/** How each one is used as a library: `make` gives a session with `exec(command)`. */
const libraries: Readonly<Record<string, { readonly head: string; readonly cwd: string }>> = {
  "child_process, a bash for each": {
    head: `import { spawn } from "node:child_process"
      const make = async () => ({ exec: (c) => new Promise((r) => spawn("bash", ["-c", c]).on("close", r).stdout.resume()) })`,
    cwd: ground
  },
  synapse: {
    head: `import { make as open } from "synapse-shell/promise"
      const make = async () => {
        const synapse = await open({ cwd: ${JSON.stringify(empty)} })
        return { exec: (command) => synapse.handle({ id: "1", name: "Bash", arguments: { command } }) }
      }`,
    cwd: process.cwd()
  },
  "srt, a sandbox for each": {
    head: `import { spawn } from "node:child_process"
      import { SandboxManager } from "@anthropic-ai/sandbox-runtime"
      const network = { allowedDomains: [], deniedDomains: [] }
      await SandboxManager.initialize({ network, filesystem: { denyRead: [], allowWrite: ["."], denyWrite: [] } })
      const make = async () => ({ exec: async (command) => {
        const wrapped = await SandboxManager.wrapWithSandbox(command)
        await new Promise((r) => spawn(wrapped, { shell: true }).on("close", r).stdout.resume())
      } })`,
    cwd: peers
  },
  "just-bash": {
    head: `import { Bash } from "just-bash"
      const make = async () => new Bash()`,
    cwd: peers
  },
  "bash-tool": {
    head: `import { createBashTool } from "bash-tool"
      const make = async () => {
        const { sandbox } = await createBashTool({ files: {} })
        return { exec: (command) => sandbox.executeCommand(command) }
      }`,
    cwd: peers
  }
}

const uses = (code: string, names = Object.keys(libraries)): ReadonlyArray<Table.Row> =>
  names.flatMap((name) => {
    const library = libraries[name]
    return library === undefined ? [] : [script(name, `${code}\nprocess.exit()`, library.cwd, library.head)]
  })

const commands = (count: number): string => `const session = await make()
  await session.exec("true")
  const began = performance.now()
  for (let at = 0; at < ${count}; at++) await session.exec("true")
  console.log((performance.now() - began) / ${count})`

const output = `const session = await make()
  const began = performance.now()
  const { extras: { exitCode } = { exitCode: 0 }, stdout } = await session.exec("yes | head -c 1073741824") ?? {}
  if (exitCode !== 0) throw new Error("it failed")
  if (stdout !== undefined && stdout.length < 2 ** 30) throw new Error("it gave " + stdout.length + " bytes")
  console.log(performance.now() - began)`

/** In MB: this process and its descendants, by the share of each page that is theirs. */
const memory = `import { readFileSync, readdirSync } from "node:fs"
  const sum = () => {
    const parents = new Map(readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).flatMap((pid) => {
      try { return [[pid, readFileSync("/proc/" + pid + "/stat", "latin1").replace(/.*\\) /s, "").split(" ")[1]]] } catch { return [] }
    }))
    const isMine = (pid) => pid !== undefined && (pid === String(process.pid) || isMine(parents.get(pid)))
    return [...parents.keys()].filter(isMine).reduce((sum, pid) => {
      try { return sum + Number(/^Pss:\\s*(\\d+)/m.exec(readFileSync("/proc/" + pid + "/smaps_rollup", "latin1"))?.[1] ?? 0) } catch { return sum }
    }, 0) / 1024
  }
  globalThis.gc?.()
  const before = sum()
  const sessions = []
  for (let at = 0; at < 100; at++) sessions.push(await make())
  for (const session of sessions) await session.exec("true")
  globalThis.gc?.()
  console.log(sum() - before)`

try {
  fs.mkdirSync(peers, { recursive: true })
  fs.writeFileSync(path.join(peers, "package.json"), "{}")
  const versions = ["@anthropic-ai/sandbox-runtime", "@openai/codex", "just-bash", "bash-tool"].flatMap((name) => {
    try {
      execFileSync("npm", ["install", "--no-audit", "--no-fund", name], {
        cwd: peers,
        stdio: "ignore",
        timeout: 300_000
      })
      const { version } = JSON.parse(fs.readFileSync(path.join(peers, "node_modules", name, "package.json"), "utf8"))
      return [`${name} ${version}`]
    } catch {
      console.log(`left out: ${name} can't be installed`)
      return []
    }
  })
  const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, ${os.type()} ${os.release()}, node ${process.version}`
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine}\n${versions.join(", ")}\n`)

  for (const directory of [empty, masked, large]) fs.mkdirSync(directory)
  const files = Array.from({ length: 600 }, (_, at) => path.join(masked, `${at}.pem`))
  for (const file of files) fs.writeFileSync(file, "-----BEGIN RSA PRIVATE KEY-----\n")
  for (let at = 0; at < 100_000; at++) {
    const directory = path.join(large, String(at % 1000))
    if (at < 1000) fs.mkdirSync(directory)
    fs.writeFileSync(path.join(directory, `${at}.txt`), "")
  }
  const baseline: Table.Row = { name: "node -e 0", run: () => void run(node, ["-e", "0"], ground) }
  await print("the start of one command", [baseline, ...starts(empty)], 15)
  await print("the same, 600 files hidden", [baseline, ...starts(masked, files)], 5)
  await print("the same, in 100,000 files", [baseline, ...starts(large)], 5)
  const slow = "srt, a sandbox for each"
  await print(
    "a command of 1,000 in a session",
    uses(
      commands(1000),
      Object.keys(libraries).filter((name) => name !== slow)
    ),
    3
  )
  await print("a command of 20, as above", uses(commands(20), Object.keys(libraries).slice(0, 3)), 3)
  await print("1 GB of output", uses(output), 1)
  await print("memory of 100 sessions", uses(memory), 1, "MB")
} finally {
  spawnSync(node, [synapse, "daemon", "stop"])
  fs.rmSync(ground, { recursive: true, force: true })
}
