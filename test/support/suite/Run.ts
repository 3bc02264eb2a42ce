/** The directories of a run: they go with its process, also where that is told to end. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import type {} from "vitest"

declare module "vitest" {
  interface ProvidedContext {
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
    const foreign = Path.join(grounds, "nobody/others/foreign")
    Fs.mkdirSync(Path.join(foreign, "own"), { recursive: true })
    Fs.chownSync(Path.join(foreign, "own"), nobody, nobody)
    Fs.chmodSync(foreign, 0o711)
    for (const path of ["nobody/others", "nobody"]) Fs.chownSync(Path.join(grounds, path), nobody, nobody)
  }
  return grounds
}

/** Puts root's run into memory where much is free: tests make and remove many small files. */
const putIntoMemory = (directory: string): boolean =>
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  Os.freemem() > 8 * 1024 ** 3 &&
  spawnSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", directory], { stdio: "ignore" }).status === 0

interface Run {
  readonly grounds: string | undefined
}

/** Settings are read once for each project. */
const state = globalThis as { synapseTestRun?: Run }

const make = (): Run => {
  // Vitest's own temporary files lie there too.
  const temporary = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "t"))
  // As /tmp: some files become an ordinary user.
  Fs.chmodSync(temporary, 0o1777)
  const isInMemory = putIntoMemory(temporary)
  process.env["TMPDIR"] = temporary
  // Each start of node would read them, for more than half of its time again, and no test goes that far.
  delete process.env["NODE_EXTRA_CA_CERTS"]
  const grounds = makeGrounds()
  process.once("exit", () => {
    if (isInMemory) spawnSync("umount", ["--lazy", temporary], { stdio: "inherit" })
    const made = [temporary, ...(grounds === undefined ? [] : [grounds])]
    spawnSync("chmod", ["-R", "u+rwX", ...made], { stdio: "ignore" })
    spawnSync("rm", ["-rf", ...made], { stdio: "inherit" })
  })
  return { grounds }
}

/** Begins the run where vitest reads its settings; other programs read them too. */
export const begin = (): Partial<Run> => {
  if (process.env["VITEST"] === undefined) return {}
  state.synapseTestRun ??= make()
  return state.synapseTestRun
}
