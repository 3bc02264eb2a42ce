/** What a start costs where other programs keep much in the directory for temporary files, and where the project is large. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Table from "./Table.js"

const synapse = path.resolve("dist/bin/synapse.cjs")
const ground = fs.mkdtempSync(path.join(os.homedir(), ".synapse-world-"))

/** A directory with directories two deep, and files in each. */
const tree = (name: string, directories: number, files: number): string => {
  const root = path.join(ground, name)
  fs.mkdirSync(root, { recursive: true })
  for (let at = 0; at < directories; at++) {
    const directory = path.join(root, String(at % 100), String(at))
    fs.mkdirSync(directory, { recursive: true })
    for (let file = 0; file < files; file++) fs.writeFileSync(path.join(directory, `file-${file}.txt`), "")
  }
  return root
}

const empty = tree("empty", 0, 0)
const nothing = tree("nothing", 0, 0)

/** A start in a project with a directory for temporary files. */
const row = (name: string, project: string, temporary: string): Table.Row => {
  const home = path.join(ground, `home of ${name}`)
  const env = { ...process.env, TMPDIR: temporary, SYNAPSE_HOME: home }
  return {
    name,
    run: () => {
      const began = performance.now()
      const { status, stderr } = spawnSync(process.execPath, [synapse, "exec", "true"], {
        cwd: project,
        env,
        encoding: "utf8"
      })
      const took = performance.now() - began
      if (status !== 0) throw new Error(`${name}: exit code ${status}: ${stderr}`)
      return took
    }
  }
}

try {
  const few = tree("few", 20, 5000)
  const many = tree("many", 10_000, 10)
  const project = tree("project", 2000, 25)
  await Table.print(
    [
      row("nothing there", empty, nothing),
      row("100,000 files in 20 directories", empty, few),
      row("100,000 files in 10,000 directories", empty, many),
      row("a project of 50,000 files", project, nothing)
    ],
    {
      title: "start, by what lies in the temporary directory",
      samples: 21,
      goals: {
        "100,000 files in 20 directories": 1.3,
        "100,000 files in 10,000 directories": 1.3,
        "a project of 50,000 files": 1.3
      }
    }
  )
} finally {
  fs.rmSync(ground, { recursive: true, force: true })
}
