/**
 * Where attacks take place: a directory that neither `/tmp` nor a sandbox's own directories hide, and who attacks.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { inject } from "vitest"
import type {} from "../suite/Run.js"

const isLinux = process.platform === "linux"

const nobody = 65_534

/**
 * A ground of the file's own, in what was made for the run (`Run`); root becomes an ordinary user for good where
 * `nobody` is asked for. Undefined where there is no place for it.
 */
export const take = (who: "root" | "nobody"): string | undefined => {
  const isRoot = process.getuid?.() === 0
  const grounds = inject("grounds")
  if (!isLinux || grounds === undefined || (who === "root" && !isRoot)) return undefined
  if (isRoot && who === "nobody") {
    process.setgroups?.([])
    process.setgid?.(nobody)
    process.setuid?.(nobody)
  }
  if (who === "nobody" && process.getuid?.() === nobody) process.env["HOME"] = "/nonexistent"
  const path = Fs.mkdtempSync(Path.join(grounds, who, "ground-"))
  const temporary = Path.join(path, "tmp")
  Fs.mkdirSync(temporary)
  // Sessions of this file, and nobody else's, lie in it.
  process.env["TMPDIR"] = temporary
  process.env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  return path
}

/** Tests whether root has tried the same before: a test of what depends on no user is not repeated then. */
export const isSecond = (): boolean => {
  const grounds = inject("grounds")
  return grounds !== undefined && Fs.statSync(grounds).uid === 0
}

/** Another user's directory, alone beside the grounds of `nobody`, which can be entered and not be listed; only root makes one. */
export const foreign = (ground: string): string => Path.join(Path.dirname(ground), "others/foreign")

/** An ordinary user may not come as far as the checkout, as in root's home: what is loaded late is missing then. */
export const seesCheckout = (): boolean => Fs.existsSync(Path.resolve("package.json"))

/** Programs on the PATH that sandboxes get. */
export const has = (program: string): boolean =>
  ["/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((directory) =>
    Fs.existsSync(Path.join(directory, program))
  )
