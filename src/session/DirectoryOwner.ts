/** Names private directories after the process that owns them, and removes those whose owner was killed. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as ProcessFiles from "./ProcessFiles.js"

/** The purpose of a directory: a session, the plan of its sandbox, or to keep the one around it from being removed. */
type Kind = "session" | "sandbox" | "hold"

interface Owner {
  readonly pid: string
  /** The start time, which tells a process from a later one with its pid. */
  readonly started: string
  /** The PID namespace: containers that share a directory have pids of their own. */
  readonly namespace: string
}

/** Returns the start time of a process, in ticks since boot; undefined where there is no such process. */
const startOf = (pid: number): string | undefined => ProcessFiles.stat(pid)?.started.toString()

/** The namespace of this process; `0` where `/proc` does not tell of it. */
const namespaceOf = (): string => {
  try {
    if (Fs.readlinkSync("/proc/self") !== String(process.pid)) return "0"
    return /\d+/.exec(Fs.readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  } catch {
    return "0"
  }
}

/** Makes a directory for this process in another; throws the file system's error. */
export const make = (parent: string, kind: Kind): string => {
  // Short, for a model reads the name wherever a result names a file.
  const owner = [String(process.pid), startOf(process.pid) ?? "0", namespaceOf()].map((one) => Number(one).toString(36))
  return Fs.mkdtempSync(Path.join(parent, `${kind}-${owner.join(".")}-`))
}

/** Matches the names that `make` gives, and those of earlier versions, which have no owner. */
const named = /^(session|sandbox|hold)-(?:([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)-|\d+-)?\w{6}$/

const parse = (name: string): { readonly kind: Kind; readonly owner: Owner | undefined } | undefined => {
  const [, kind, ...owner] = named.exec(name) ?? []
  if (kind !== "session" && kind !== "sandbox" && kind !== "hold") return undefined
  const [pid = "", started = "", namespace = "0"] = owner.map((one) => String(Number.parseInt(one ?? "0", 36)))
  return { kind, owner: namespace === "0" ? undefined : { pid, started, namespace } }
}

const hour = 3_600_000
const day = 24 * hour

/** Tests whether a process anywhere on this machine reads the FIFO that a session reads as long as it lives. */
const isRead = (directory: string): boolean | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = Fs.constants
  try {
    Fs.closeSync(Fs.openSync(Path.join(directory, "state"), O_WRONLY | O_NONBLOCK | O_NOFOLLOW))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENXIO" ? false : undefined
  }
}

/** Tests whether a directory that nobody is known to own has been left for so long that nobody can. */
const isForgotten = (path: string, kind: Kind, age: number): boolean => {
  const read = kind === "session" ? isRead(path) : undefined
  return read === undefined ? age > 7 * day : !read && age > hour
}

/** Tests whether only the files of outputs are left, which a result has named to somebody. */
const isKept = (path: string, kind: Kind): boolean => kind === "session" && Fs.readdirSync(path).join() === "output"

const isAbandoned = (parent: string, name: string, namespace: string): boolean => {
  const parsed = parse(name)
  if (parsed === undefined) return false
  const path = Path.join(parent, name)
  try {
    const { kind, owner } = parsed
    const at = Fs.lstatSync(path)
    const age = Date.now() - at.mtimeMs
    if (!at.isDirectory() || at.uid !== process.getuid?.()) return false
    if (owner?.namespace !== namespace) return isForgotten(path, kind, age)
    if (startOf(Number(owner.pid)) === owner.started || isRead(path) === true) return false
    return !isKept(path, kind) || age > day
  } catch {
    // Somebody else has removed it, or it can't be looked at.
    return false
  }
}

/** The most directories that one sweep looks at. */
const most = 100

/** Removes the other directories, and `$0` with the last that is in it. */
const script = 'rm -rf -- "$@"; rmdir -- "$0"'

/**
 * Removes the directories of owners that were killed, at most 100 at a time. The removal is left to a process of its
 * own, which does not hold this one up; it follows no links.
 */
export const sweep = async (parent: string): Promise<void> => {
  const names = await Fs.promises.readdir(parent).catch((): Array<string> => [])
  if (names.length < 2) return
  const namespace = namespaceOf()
  // From anywhere, so that those which can't be removed don't keep the others from their turn.
  const from = Math.floor(Math.random() * names.length)
  const abandoned = [...names.slice(from), ...names.slice(0, from)]
    .slice(0, most)
    .filter((name) => isAbandoned(parent, name, namespace))
  if (abandoned.length === 0) return
  ChildProcess.spawn("/bin/sh", ["-c", script, parent, ...abandoned.map((name) => Path.join(parent, name))], {
    cwd: "/",
    detached: true,
    env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
    stdio: "ignore"
  })
    // The next start tries again.
    .on("error", () => {})
    .unref()
}
