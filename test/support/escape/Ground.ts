/**
 * Where attacks take place: a directory that neither `/tmp` nor a sandbox's own directories hide, and who attacks.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const isLinux = process.platform === "linux"

const isOrdinary = (directory: string) => {
  try {
    Fs.accessSync(directory, Fs.constants.W_OK)
    return !/^\/(?:tmp|var\/tmp|run|dev|proc)(?:\/|$)/.test(Fs.realpathSync(directory))
  } catch {
    return false
  }
}

const nobody = 65_534

const create = (): string | undefined => {
  const parent = ["/srv", "/opt", Os.homedir()].find(isOrdinary)
  if (parent === undefined) return undefined
  const path = Fs.mkdtempSync(Path.join(Fs.realpathSync(parent), "escape-"))
  // An ordinary user could not remove it from where root made it; and it goes with this process, however that ends.
  const cleaner = ChildProcess.spawn("/bin/bash", ["-c", 'read -r _; rm -rf -- "$1"', "cleaner", path], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {}
  })
  cleaner.unref()
  return path
}

/**
 * The ground, and the process that it belongs to; root becomes an ordinary user for good where `nobody` is asked for (vitest
 * gives every test file a process of its own). Undefined where there is no place for it.
 */
export const take = (who: "root" | "nobody"): string | undefined => {
  const isRoot = process.getuid?.() === 0
  if (!isLinux || (who === "root" && !isRoot)) return undefined
  const path = create()
  if (path !== undefined && isRoot && who === "nobody") {
    // Another user's directory, which can be entered and not be listed.
    Fs.mkdirSync(Path.join(path, "foreign/own"), { recursive: true })
    Fs.chownSync(Path.join(path, "foreign/own"), nobody, nobody)
    Fs.chmodSync(Path.join(path, "foreign"), 0o711)
    Fs.chownSync(path, nobody, nobody)
    process.setgroups?.([])
    process.setgid?.(nobody)
    process.setuid?.(nobody)
    process.env["HOME"] = "/nonexistent"
  }
  if (path !== undefined) {
    const temporary = Path.join(path, "tmp")
    Fs.mkdirSync(temporary)
    // Sessions of this process, and nobody else's, lie in it.
    process.env["TMPDIR"] = temporary
    process.env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  }
  return path
}

/** Programs on the PATH that sandboxes get. */
export const has = (program: string): boolean =>
  ["/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((directory) =>
    Fs.existsSync(Path.join(directory, program))
  )
