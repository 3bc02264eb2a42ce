// Runs test/bench/*.bench.ts, or those whose names hold a word that is given: bundled, so that they run what users run.
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { build } from "rolldown"

const root = path.resolve(import.meta.dirname, "../..")
const source = path.join(root, "test/bench")
// Inside of node_modules, where it finds the packages that it leaves out.
const out = path.join(root, "node_modules/.cache/synapse-bench")
const words = process.argv.slice(2)

const names = fs
  .readdirSync(source)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.slice(0, -".ts".length))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))

fs.rmSync(out, { recursive: true, force: true })
await build({
  input: Object.fromEntries(names.map((name) => [name, path.join(source, `${name}.ts`)])),
  platform: "node",
  external: /^[^./]/,
  output: { dir: out, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
  logLevel: "warn"
})

let failed = false
for (const name of names) {
  const { status } = spawnSync(process.execPath, ["--expose-gc", path.join(out, `${name}.mjs`)], {
    cwd: root,
    stdio: "inherit"
  })
  if (status !== 0) console.error(`${name}: failed`)
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0
