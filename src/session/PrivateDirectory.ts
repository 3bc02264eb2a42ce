/**
 * The places of the private directories of sessions and sandboxes. Every sandbox hides all of them: a command that could
 * write there would write what other sessions run.
 */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import * as Account from "../files/Account.js"
import * as ProcessTable from "./ProcessTable.js"
import * as SessionSettings from "./SessionSettings.js"

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
const startOf = (pid: number): string | undefined => ProcessTable.stat(pid)?.started.toString()

/** The namespace of this process; `0` where `/proc` does not tell of it. */
const namespaceOf = (): string =>
  Attempt.orElse(() => {
    if (Fs.readlinkSync("/proc/self") !== String(process.pid)) return "0"
    return /\d+/.exec(Fs.readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  }, "0")

/** Makes a directory for this process in another; throws the file system's error. */
export const makeOwned = (parent: string, kind: Kind): string => {
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

/** Tests whether the process that made a directory (`makeOwned`) still runs, as far as that can be told. */
export const isOwned = (parent: string, name: string): boolean =>
  parse(name) !== undefined && !isAbandoned(parent, name, namespaceOf())

/** The most directories that one sweep looks at. */
const most = 100

/** Removes the other directories, and `$0` with the last that is in it. */
const script = 'rm -rf -- "$@"; rmdir -- "$0"'

/**
 * Removes the directories of owners that were killed, at most 100 at a time. The removal is left to a process of its
 * own, which does not hold this one up; it follows no links.
 */
export const sweep = (parent: string): void => {
  const names = Attempt.orElse((): ReadonlyArray<string> => Fs.readdirSync(parent), [])
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

/** The user's directory that holds a place, and is made with it; no other parent is. */
const ownName = ".synapse"

const uid = (): number => process.getuid?.() ?? 0

const attempt = (home: () => string | undefined): ReadonlyArray<string> =>
  // The system does not know this user.
  Attempt.orElse(() => {
    const path = home()
    return path !== undefined && Path.isAbsolute(path) ? [path] : []
  }, [])

/**
 * Returns the places in the order in which they are tried: in the home directory that the environment names, in that of
 * the account, in the login's runtime directory, and in `/tmp`. `SYNAPSE_HOME` plays no part, so that all sessions of a
 * user hide one another.
 */
export const places = (): ReadonlyArray<string> => [
  ...new Set([
    ...[...attempt(() => Os.homedir()), ...attempt(Account.home)].map((home) => Path.join(home, ownName, "run")),
    ...attempt(SessionSettings.runtimeDirectory).map((path) => Path.join(path, "synapse")),
    `/tmp/synapse-${uid()}`
  ])
]

/** Returns the user's directory of Synapse's own files that a place lies in; undefined for a place elsewhere. */
export const around = (place: string): string | undefined => {
  const parent = Path.dirname(place)
  return Path.basename(parent) === ownName ? parent : undefined
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Makes a directory where there is none; throws a sentence where what is there is no directory of this user's alone. */
const own = (path: string, isShared: boolean): void => {
  try {
    Fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
  const at = Fs.lstatSync(path)
  // A group that is named after its user has nobody else in it.
  const others = isShared ? (at.gid === uid() ? 0o002 : 0o022) : 0o077
  if (at.isDirectory() && at.uid === uid() && (at.mode & others) === 0) {
    if (isShared || (at.mode & 0o700) === 0o700) return
  }
  throw new Error(
    `${path} must be a directory of yours that nobody else may ${isShared ? "write" : "enter"}: correct or remove it`
  )
}

/** Returns the directories of a place that are made where they are missing, in the real path of the one around them. */
const partsOf = (place: string): ReadonlyArray<string> => {
  const parent = around(place)
  const outer = Fs.realpathSync.native(Path.dirname(parent ?? place))
  const names = parent === undefined ? [] : [ownName]
  return [...names.map((name) => Path.join(outer, name)), Path.join(outer, ...names, Path.basename(place))]
}

/** Throws a sentence where another user could replace what is made in a directory. */
const checkAround = (path: string): void => {
  const { mode, uid: owner } = Fs.statSync(path)
  if ((owner === uid() || owner === 0) && ((mode & 0o002) === 0 || (mode & 0o1000) !== 0)) return
  throw new Error(`${path} belongs to others, or others may write it`)
}

/**
 * Throws a sentence where the commands of a sandbox, which have no rights of root beyond those of its files, could not
 * come to a directory.
 */
const checkWay = (path: string): void => {
  for (let at = path; at !== "/"; at = Path.dirname(at)) {
    const { gid, mode, uid: owner } = Fs.statSync(at)
    const right = owner === uid() ? 0o100 : gid === process.getgid?.() ? 0o010 : 0o001
    if ((mode & right) === 0) throw new Error(`${at} can't be entered by commands`)
  }
}

/** Makes a place where it is missing, and returns its real path; throws where it can't be used. */
const open = (place: string): string => {
  const parts = partsOf(place)
  const around = Path.dirname(parts[0] ?? place)
  checkAround(around)
  if (uid() === 0) checkWay(around)
  for (const [at, part] of parts.entries()) own(part, at < parts.length - 1)
  return parts.at(-1) ?? place
}

/** Returns the real path that a place has or would have; undefined where nobody could make it as things are. */
const pathOf = (place: string): string | undefined => Attempt.orUndefined(() => partsOf(place).at(-1))

/** The number of times that a place is made again where another session removes it in between. */
const mostTries = 100

const makeIn = (place: string, make: (parent: string) => string): string => {
  for (let tries = 0; ; tries++) {
    try {
      const parent = open(place)
      const made = make(parent)
      // Once the shell's start is under way.
      setImmediate(() => sweep(parent))
      return made
    } catch (error) {
      // Another session has ended in between, and has removed the empty place.
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

/**
 * Makes a directory for a session in the first of the places that can be used; throws an error that names the obstacle
 * of each.
 */
export const make = (candidates: ReadonlyArray<string> = places()): string =>
  makeInFirst(candidates, (parent) => makeOwned(parent, "session"))

/** Makes a directory that the user's programs share, or finds it, in the first of the places that can be used. */
export const shared = (name: string): string =>
  makeInFirst(places(), (parent) => {
    const path = Path.join(parent, name)
    own(path, false)
    return path
  })

/** Finds the first place that can be used, and the obstacles of those before it, without leaving anything there. */
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
  /** Lets others remove what was made for the reservation. */
  readonly release: () => void
}

/** Makes an entry in a place, which keeps the place from being removed; undefined where that can't be. */
const hold = (place: string): string | undefined =>
  Attempt.orUndefined(() => {
    const parent = open(place)
    const made = makeOwned(parent, "hold")
    setImmediate(() => sweep(parent))
    return made
  })

const statOf = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(path, { throwIfNoEntry: false }))

/** Removes an empty directory in a place, and with the last one the place. */
export const letGo = (held: string): void => {
  // Others hold the place.
  Attempt.ignore(() => {
    Fs.rmdirSync(held)
    Fs.rmdirSync(Path.dirname(held))
  })
}

/**
 * Makes sure that no command can make the places before their sessions do: those that it could make are made. They and those
 * that are there are kept from being removed, as the last session of another program would do, until they are released.
 * Throws a sentence where a place that a command could make is no directory.
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
