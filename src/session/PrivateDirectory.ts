/**
 * Finds places for the private directories of sessions and sandboxes. Every sandbox hides all of these places: a
 * command that could write there would control what other sessions run.
 */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import * as Account from "../files/Account.js"
import * as ProcessTable from "./ProcessTable.js"
import * as SessionSettings from "./SessionSettings.js"

/** What a directory is for: a session, a sandbox's plan, or to keep the place around it from being removed. */
type Kind = "session" | "sandbox" | "hold"

interface Owner {
  readonly pid: string
  /** The start time, which tells the process from a later one with the same pid. */
  readonly started: string
  /** The PID namespace, since containers that share a directory have pids of their own. */
  readonly namespace: string
}

/** Returns a process's start time in ticks since boot, or undefined if the process is gone. */
const startOf = (pid: number): string | undefined => ProcessTable.stat(pid)?.started.toString()

/** Returns this process's PID namespace, or `0` if `/proc` does not show it. */
const namespaceOf = (): string =>
  Attempt.orElse(() => {
    if (Fs.readlinkSync("/proc/self") !== String(process.pid)) return "0"
    return /\d+/.exec(Fs.readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  }, "0")

/** Creates a directory named after this process. Throws the file system's error. */
export const makeOwned = (parent: string, kind: Kind): string => {
  // Kept short, since models read the name in the paths of results.
  const owner = [String(process.pid), startOf(process.pid) ?? "0", namespaceOf()].map((one) => Number(one).toString(36))
  return Fs.mkdtempSync(Path.join(parent, `${kind}-${owner.join(".")}-`))
}

/** Matches the names that `makeOwned` gives, and names of earlier versions without an owner. */
const named = /^(session|sandbox|hold)-(?:([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)-|\d+-)?\w{6}$/

const parse = (name: string): { readonly kind: Kind; readonly owner: Owner | undefined } | undefined => {
  const [, kind, ...owner] = named.exec(name) ?? []
  if (kind !== "session" && kind !== "sandbox" && kind !== "hold") return undefined
  const [pid = "", started = "", namespace = "0"] = owner.map((one) => String(Number.parseInt(one ?? "0", 36)))
  return { kind, owner: namespace === "0" ? undefined : { pid, started, namespace } }
}

const hour = 3_600_000
const day = 24 * hour

/**
 * Tests whether any process on this machine reads the session's state FIFO, which a session reads all its life.
 * Returns undefined if that can't be told.
 */
const isRead = (directory: string): boolean | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = Fs.constants
  try {
    Fs.closeSync(Fs.openSync(Path.join(directory, "state"), O_WRONLY | O_NONBLOCK | O_NOFOLLOW))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENXIO" ? false : undefined
  }
}

/** Tests whether a directory without a known owner is so old that nobody can use it. */
const isForgotten = (path: string, kind: Kind, age: number): boolean => {
  const read = kind === "session" ? isRead(path) : undefined
  return read === undefined ? age > 7 * day : !read && age > hour
}

/** Tests whether only output files are left, whose paths a result has shown. */
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
    // Another process has removed it, or it can't be inspected.
    return false
  }
}

/** Tests whether the process that made a directory (`makeOwned`) seems to be running. */
export const isOwned = (parent: string, name: string): boolean =>
  parse(name) !== undefined && !isAbandoned(parent, name, namespaceOf())

/** The most directories that one sweep inspects. */
const most = 100

/** Removes the given directories, then the place `$0` if it is empty. */
const script = 'rm -rf -- "$@"; rmdir -- "$0"'

/**
 * Removes the directories of killed owners, at most 100 at a time. A detached process does this, so that the caller
 * does not wait. It follows no links.
 */
export const sweep = (parent: string): void => {
  const names = Attempt.orElse((): ReadonlyArray<string> => Fs.readdirSync(parent), [])
  if (names.length < 2) return
  const namespace = namespaceOf()
  // Starts anywhere, so that directories that can't be removed do not keep the others from their turn.
  const from = Math.floor(Math.random() * names.length)
  const abandoned = [...names.slice(from), ...names.slice(0, from)]
    .slice(0, most)
    .filter((name) => isAbandoned(parent, name, namespace))
  if (abandoned.length === 0) return
  // If it fails, the next start tries again.
  runApart(script, parent, ...abandoned.map((name) => Path.join(parent, name)))
}

/** Runs a script that outlives this process. Failures are ignored. */
export const runApart = (script: string, name: string, ...args: ReadonlyArray<string>): void => {
  ChildProcess.spawn("/bin/sh", ["-c", script, name, ...args], {
    cwd: "/",
    detached: true,
    env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
    stdio: "ignore"
  })
    .on("error", () => {})
    .unref()
}

/** The directory in the user's home that holds a place. It is created with the place; other parents are not. */
const ownName = ".synapse"

const uid = (): number => process.getuid?.() ?? 0

const attempt = (home: () => string | undefined): ReadonlyArray<string> =>
  // The system may not know this user.
  Attempt.orElse(() => {
    const path = home()
    return path !== undefined && Path.isAbsolute(path) ? [path] : []
  }, [])

/**
 * Returns the candidate places in order: in the home directory of the environment, in the account's home, in the
 * login's runtime directory, and in `/tmp`. `SYNAPSE_HOME` has no influence, so that all sessions of a user hide each
 * other's places.
 */
export const places = (): ReadonlyArray<string> => [
  ...new Set([
    ...[...attempt(() => Os.homedir()), ...attempt(Account.home)].map((home) => Path.join(home, ownName, "run")),
    ...attempt(SessionSettings.runtimeDirectory).map((path) => Path.join(path, "synapse")),
    `/tmp/synapse-${uid()}`
  ])
]

/** Returns the `.synapse` directory that a place lies in, or undefined for a place elsewhere. */
export const around = (place: string): string | undefined => {
  const parent = Path.dirname(place)
  return Path.basename(parent) === ownName ? parent : undefined
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Creates a directory unless it exists. Throws unless only this user can enter it, or with `isShared`, write it. */
const own = (path: string, isShared: boolean): void => {
  try {
    Fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
  const at = Fs.lstatSync(path)
  // A group named after its user has no other members.
  const others = isShared ? (at.gid === uid() ? 0o002 : 0o022) : 0o077
  if (at.isDirectory() && at.uid === uid() && (at.mode & others) === 0) {
    if (isShared || (at.mode & 0o700) === 0o700) return
  }
  throw new Error(
    `${path} must be a directory of yours that nobody else may ${isShared ? "write" : "enter"}: correct or remove it`
  )
}

/** Returns the directories to create for a place, under the real path of their parent. */
const partsOf = (place: string): ReadonlyArray<string> => {
  const parent = around(place)
  const outer = Fs.realpathSync.native(Path.dirname(parent ?? place))
  const names = parent === undefined ? [] : [ownName]
  return [...names.map((name) => Path.join(outer, name)), Path.join(outer, ...names, Path.basename(place))]
}

/** Throws if another user could replace what is created in a directory. */
const checkAround = (path: string): void => {
  const { mode, uid: owner } = Fs.statSync(path)
  if ((owner === uid() || owner === 0) && ((mode & 0o002) === 0 || (mode & 0o1000) !== 0)) return
  throw new Error(`${path} belongs to others, or others may write it`)
}

/** Throws if sandboxed commands can't reach a directory: even root's lack the right to pass closed directories. */
const checkWay = (path: string): void => {
  for (let at = path; at !== "/"; at = Path.dirname(at)) {
    const { gid, mode, uid: owner } = Fs.statSync(at)
    const right = owner === uid() ? 0o100 : gid === process.getgid?.() ? 0o010 : 0o001
    if ((mode & right) === 0) throw new Error(`${at} can't be entered by commands`)
  }
}

/** Creates a place if it is missing, and returns its real path. Throws if it can't be used. */
const open = (place: string): string => {
  const parts = partsOf(place)
  const around = Path.dirname(parts[0] ?? place)
  checkAround(around)
  if (uid() === 0) checkWay(around)
  for (const [at, part] of parts.entries()) own(part, at < parts.length - 1)
  return parts.at(-1) ?? place
}

/** Returns the real path that a place has or would have, or undefined if it can't be created. */
const pathOf = (place: string): string | undefined => Attempt.orUndefined(() => partsOf(place).at(-1))

/** How often a place is created again if another session removes it meanwhile. */
const mostTries = 100

const makeIn = (place: string, make: (parent: string) => string): string => {
  for (let tries = 0; ; tries++) {
    try {
      const parent = open(place)
      const made = make(parent)
      // Later, so that it does not delay the shell's start.
      setImmediate(() => sweep(parent))
      return made
    } catch (error) {
      // Another session has ended meanwhile and removed the empty place.
      if (codeOf(error) !== "ENOENT" || tries >= mostTries || pathOf(place) === undefined) throw error
    }
  }
}

const makeInFirst = (candidates: ReadonlyArray<string>, make: (parent: string) => string): string => {
  const obstacles: Array<string> = []
  for (const place of candidates) {
    try {
      return makeIn(place, make)
    } catch (error) {
      obstacles.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(`there is no place for private files: ${obstacles.join("; ")}`)
}

/** Creates a session's directory in the first usable place. Throws an error that says what is wrong with each place. */
export const make = (candidates: ReadonlyArray<string> = places()): string =>
  makeInFirst(candidates, (parent) => makeOwned(parent, "session"))

/** Creates or finds a directory shared by the user's programs, in the first usable place. */
export const shared = (name: string): string =>
  makeInFirst(places(), (parent) => {
    const path = Path.join(parent, name)
    own(path, false)
    return path
  })

/** Finds the first usable place, and what is wrong with the places before it. Leaves nothing behind. */
export const examine = (
  candidates: ReadonlyArray<string> = places()
): { readonly place: string | undefined; readonly obstacles: ReadonlyArray<string> } => {
  const obstacles: Array<string> = []
  for (const place of candidates) {
    try {
      const made = makeOwned(open(place), "hold")
      letGo(made)
      return { place: Path.dirname(made), obstacles }
    } catch (error) {
      obstacles.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { place: undefined, obstacles }
}

/** The places that a sandbox hides, by their real paths. */
interface Reserved {
  readonly places: ReadonlyArray<string>
  /** Lets the places be removed again. */
  readonly release: () => void
}

/** Creates an entry that keeps a place from being removed, or returns undefined if it can't. */
const hold = (place: string): string | undefined =>
  Attempt.orUndefined(() => {
    const parent = open(place)
    const made = makeOwned(parent, "hold")
    setImmediate(() => sweep(parent))
    return made
  })

const statOf = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(path, { throwIfNoEntry: false }))

/** Removes an empty directory, and its place if that is empty too. */
export const letGo = (held: string): void => {
  // Others hold the place.
  Attempt.ignore(() => {
    Fs.rmdirSync(held)
    Fs.rmdirSync(Path.dirname(held))
  })
}

/**
 * Creates the places that a command could create, so that no command does it before a session. Keeps all existing
 * places from being removed, as the last session of another program would, until `release`. Throws if a command could
 * put something else than a directory at a place.
 *
 * @param isWritable tells whether commands may write to a path
 */
export const reserve = (candidates: ReadonlyArray<string>, isWritable: (path: string) => boolean): Reserved => {
  const paths = [...new Set(candidates.flatMap((place) => pathOf(place) ?? []))]
  const isThere = (path: string) => statOf(path)?.isDirectory() === true
  const holds = paths.filter((path) => isWritable(path) || isThere(path)).flatMap((path) => hold(path) ?? [])
  const release = () => holds.splice(0).forEach(letGo)
  const taken = paths.filter(isWritable).find((path) => statOf(path)?.isDirectory() === false)
  if (taken !== undefined) {
    release()
    throw new Error(`${taken} must be a directory: remove it`)
  }
  return { places: paths.filter(isThere), release }
}
