/** How long the program takes to start, against a node that does nothing. */
import { spawn, spawnSync } from "node:child_process"
import * as path from "node:path"
import * as Table from "./Table.js"

const node = process.execPath
const synapse = path.resolve("dist/bin/synapse.cjs")

const row = (name: string, file: string, args: ReadonlyArray<string>, daemon: "0" | "auto" = "0"): Table.Row => ({
  name,
  run: () => {
    const env = { ...process.env, SYNAPSE_DAEMON: daemon }
    const { status, stderr } = spawnSync(file, args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", env })
    if (status !== 0) throw new Error(`${name}: exit code ${status}: ${stderr.trim()}`)
  }
})

const prompt = process.getuid?.() === 0 ? "# " : "$ "

/** The shell on a terminal of its own, which `script` makes, up to its prompt. It leaves when it is told to, out of the time. */
const shell = (name: string, args: ReadonlyArray<string>): Table.Row => ({
  name,
  run: () =>
    new Promise<number>((resolve, reject) => {
      const line = [node, synapse, "shell", ...args].map((word) => `'${word}'`).join(" ")
      const { CI: _, NO_COLOR: __, ...env } = process.env
      let shown = ""
      let elapsed: number | undefined
      const start = performance.now()
      const child = spawn("script", ["-qfec", `exec ${line}`, "/dev/null"], {
        env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" },
        stdio: ["pipe", "pipe", "inherit"]
      })
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        shown += text
        if (elapsed !== undefined || !shown.includes(prompt)) return
        elapsed = performance.now() - start
        child.stdin.write("\x04")
      })
      child.on("error", reject)
      child.on("close", (status) => {
        if (elapsed !== undefined && status === 0) resolve(elapsed)
        else reject(new Error(`${name}: exit code ${status}: ${shown.trim()}`))
      })
    })
})

/** A program without Effect, from its start to its first result. */
const face = (sandbox: boolean): ReadonlyArray<string> => [
  "--input-type=module",
  "-e",
  `import { make } from "synapse-shell/promise"
   const synapse = await make({ sandbox: ${sandbox} })
   await synapse.handle({ id: "1", name: "Bash", arguments: { command: "true" } })
   process.exit()`
]

try {
  await Table.print(
    [
      row("node -e 0", node, ["-e", "0"]),
      row("synapse --version", node, [synapse, "--version"]),
      row("synapse --help", node, [synapse, "--help"]),
      row("synapse exec --no-sandbox true", node, [synapse, "exec", "--no-sandbox", "true"]),
      // In the directory that the bench is called in: a larger tree takes longer to walk.
      row("synapse exec true", node, [synapse, "exec", "true"]),
      row("synapse exec true, a shell ready", node, [synapse, "exec", "true"], "auto"),
      shell("synapse shell --no-sandbox, to the prompt", ["--no-sandbox"]),
      shell("synapse shell, to the prompt", []),
      row("Promise face, no sandbox, first result", node, face(false)),
      row("Promise face, first result", node, face(true)),
      row("bash -c true", "bash", ["-c", "true"])
    ],
    {
      title: "start-up",
      samples: 30,
      goals: {
        "synapse --version": 1.6,
        "synapse exec --no-sandbox true": 2.8,
        "synapse exec true": 4,
        "synapse exec true, a shell ready": 1.6,
        "synapse shell, to the prompt": 3,
        "Promise face, first result": 3.5
      }
    }
  )
} finally {
  spawnSync(node, [synapse, "daemon", "stop"])
}
