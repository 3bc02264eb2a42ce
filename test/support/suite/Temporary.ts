/** A temporary directory for a whole run, which takes along whatever tests leave in it. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    readonly temporary: string
  }
}

export default ({ provide }: TestProject) => {
  const root = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "t"))
  // Tests that become an ordinary user enter it as well.
  Fs.chmodSync(root, 0o755)
  provide("temporary", root)
  return () => {
    spawnSync("chmod", ["-R", "u+rwX", root], { stdio: "ignore" })
    spawnSync("rm", ["-rf", root], { stdio: "inherit" })
  }
}
