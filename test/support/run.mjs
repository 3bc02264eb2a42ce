/**
 * Runs all tests. The files whose process has died before all their tests ended are run once more, and named: nobody else
 * can tell which they were. A test that fails is not run again here, and neither is anything beside it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const directory = mkdtempSync(join(tmpdir(), "synapse-tests-"))
const list = join(directory, "unfinished")

/** @param {ReadonlyArray<string>} files */
const vitest = (...files) =>
  spawnSync("vitest", ["run", ...files], { stdio: "inherit", env: { ...process.env, SYNAPSE_UNFINISHED: list } })
    .status ?? 1

try {
  let code = vitest(...process.argv.slice(2))
  if (code !== 0 && existsSync(list)) {
    const files = readFileSync(list, "utf8").split("\n")
    rmSync(list)
    code = vitest(...files)
  }
  process.exitCode = code
} finally {
  rmSync(directory, { recursive: true, force: true })
}
