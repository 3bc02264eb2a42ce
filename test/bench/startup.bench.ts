/** How long the program takes to start, against a node that does nothing; for scale, what others take for the same. */
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Table from "./Table.js"

const node = process.execPath
const synapse = path.resolve("dist/bin/synapse.cjs")

const row = (name: string, file: string, args: ReadonlyArray<string>): Table.Row => ({
  name,
  run: () => {
    const { status, stderr } = spawnSync(file, args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" })
    if (status !== 0) throw new Error(`${name}: exit code ${status}: ${stderr.trim()}`)
  }
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

/** Installs others outside of the repository; what cannot be installed here is left out with a word. */
const others = (directory: string): ReadonlyArray<Table.Row> => {
  const bin = path.join(directory, "node_modules/.bin")
  const install = (name: string, rows: () => ReadonlyArray<Table.Row>): ReadonlyArray<Table.Row> => {
    try {
      execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", directory, name], {
        stdio: "ignore",
        timeout: 120_000
      })
      return rows().filter((candidate) => {
        try {
          candidate.run()
          return true
        } catch (error) {
          console.log(`left out: ${error instanceof Error ? error.message : error}`)
          return false
        }
      })
    } catch {
      console.log(`left out: ${name} could not be installed`)
      return []
    }
  }
  return [
    ...install("just-bash@3.4.2", () => [row("just-bash -c true", path.join(bin, "just-bash"), ["-c", "true"])]),
    ...install("@anthropic-ai/sandbox-runtime@0.0.83", () => [row("srt true", path.join(bin, "srt"), ["true"])])
  ]
}

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-bench-"))
try {
  await Table.print(
    [
      row("node -e 0", node, ["-e", "0"]),
      row("synapse --version", node, [synapse, "--version"]),
      row("synapse --help", node, [synapse, "--help"]),
      row("synapse exec --no-sandbox true", node, [synapse, "exec", "--no-sandbox", "true"]),
      // In the directory that the bench is called in: a larger tree takes longer to walk.
      row("synapse exec true", node, [synapse, "exec", "true"]),
      row("Promise face, no sandbox, first result", node, face(false)),
      row("Promise face, first result", node, face(true)),
      row("bash -c true", "bash", ["-c", "true"]),
      ...others(directory)
    ],
    {
      title: "start-up",
      samples: 30,
      goals: { "synapse --version": 1.6, "synapse exec true": 2.5, "Promise face, first result": 3.5 }
    }
  )
} finally {
  fs.rmSync(directory, { recursive: true, force: true })
}
