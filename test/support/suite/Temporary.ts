/** The directories of a run, which take along whatever tests leave in them. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** For the temporary directories of files. */
    readonly temporary: string
    /** For attacks: neither `/tmp` nor a sandbox's own directories hide it. Undefined where there is no place for it. */
    readonly grounds: string | undefined
  }
}

const isOrdinary = (directory: string) => {
  try {
    Fs.accessSync(directory, Fs.constants.W_OK)
    return !/^\/(?:tmp|var\/tmp|run|dev|proc)(?:\/|$)/.test(Fs.realpathSync(directory))
  } catch {
    return false
  }
}

const nobody = 65_534

/** Directories for the grounds of root and of an ordinary user, who owns what root could not make later as that user. */
const makeGrounds = (): string | undefined => {
  const parent = ["/srv", "/opt", Os.homedir()].find(isOrdinary)
  if (parent === undefined) return undefined
  const grounds = Fs.mkdtempSync(Path.join(Fs.realpathSync(parent), "escape-"))
  Fs.chmodSync(grounds, 0o755)
  for (const who of ["root", "nobody"]) Fs.mkdirSync(Path.join(grounds, who), { mode: 0o700 })
  if (process.getuid?.() === 0) {
    const foreign = Path.join(grounds, "nobody/foreign")
    Fs.mkdirSync(Path.join(foreign, "own"), { recursive: true })
    Fs.chownSync(Path.join(foreign, "own"), nobody, nobody)
    Fs.chmodSync(foreign, 0o711)
    Fs.chownSync(Path.join(grounds, "nobody"), nobody, nobody)
  }
  return grounds
}

export default ({ provide }: TestProject) => {
  const temporary = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "t"))
  // As /tmp: some files become an ordinary user.
  Fs.chmodSync(temporary, 0o1777)
  provide("temporary", temporary)
  const grounds = makeGrounds()
  provide("grounds", grounds)
  return () => {
    const made = [temporary, ...(grounds === undefined ? [] : [grounds])]
    spawnSync("chmod", ["-R", "u+rwX", ...made], { stdio: "ignore" })
    spawnSync("rm", ["-rf", ...made], { stdio: "inherit" })
  }
}
