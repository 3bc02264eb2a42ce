/**
 * Walks directories once for all globs together. Hidden, ignored and installed files are included; symbolic links to
 * directories are not followed.
 *
 * Reading synchronously takes half as long as asynchronously, so the walk reads synchronously and yields to other work
 * at intervals.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../../../domain/Attempt.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as HeldDirectory from "../../../policy/HeldDirectory.js"
import * as HostPath from "../../../policy/HostPath.js"
import type { Rule } from "../../../policy/SandboxPolicy.js"

/** An entry of a directory, with a name in the form of `BytePath`. */
type Entry = Pick<Fs.Dirent, "name" | "isDirectory" | "isFile" | "isSocket" | "isSymbolicLink">

/**
 * The longest path of a directory that is entered, in bytes. The paths of its entries are then still short enough to
 * mount.
 */
const longest = 3800

/** Error codes for a lack of system resources, which say nothing about the path. */
const shortages = new Set(["EMFILE", "ENFILE", "ENOMEM"])

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const rethrowShortage = (error: unknown): void => {
  if (shortages.has(codeOf(error) ?? "")) throw error
}

const isTooLong = (path: string): boolean => path.length * 3 > longest && BytePath.encode(path).length > longest

/**
 * Lists a directory, possibly reached by another path. Undefined if it can't be listed (`closedAt` says why) or its
 * path is too long. Throws if the system lacks descriptors or memory.
 */
export const list = (directory: string, reached = directory): ReadonlyArray<Entry> | undefined => {
  if (isTooLong(directory)) return undefined
  try {
    const entries = Fs.readdirSync(BytePath.toHost(reached), { withFileTypes: true })
    return entries.some(({ name }) => BytePath.isDoubtful(name)) ? listBytes(reached) : entries
  } catch (error) {
    rethrowShortage(error)
    return undefined
  }
}

const listBytes = (directory: string): ReadonlyArray<Entry> =>
  Fs.readdirSync(BytePath.encode(directory), { encoding: "buffer", withFileTypes: true }).map((entry) => ({
    name: BytePath.decode(entry.name),
    isDirectory: () => entry.isDirectory(),
    isFile: () => entry.isFile(),
    isSocket: () => entry.isSocket(),
    isSymbolicLink: () => entry.isSymbolicLink()
  }))

/**
 * Tests whether commands can get at a directory's entries: they may enter it, or may change its rights. Throws if it
 * does not exist.
 */
const isWithinReach = (directory: string): boolean => {
  const at = Fs.lstatSync(BytePath.toHost(directory))
  return at.isDirectory() && (at.uid === process.geteuid?.() || HostPath.isAccessible(directory, Fs.constants.X_OK))
}

export const isOwn = (directory: string): boolean =>
  Attempt.orElse(() => Fs.lstatSync(BytePath.toHost(directory)).uid === process.geteuid?.(), false)

/** Why such a directory is masked whole. */
export const unsearchable = "it can't be searched for what the blacklist names"

/**
 * Returns the directory that hides a path from a walk but not from commands: the path itself, if it can't be listed, or
 * an ancestor that can't be entered. Undefined if the path is gone, is no directory, or is closed to commands too.
 */
const closedAt = (path: string): string | undefined => {
  try {
    return isWithinReach(path) ? path : undefined
  } catch (error) {
    rethrowShortage(error)
    return codeOf(error) === "EACCES" && path !== "/" ? closedAt(Path.dirname(path)) : undefined
  }
}

/** Returns the directory, accessible to commands, that keeps this process from seeing whether a path exists. */
export const hiding = (path: string): string | undefined => {
  try {
    Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })
    return undefined
  } catch (error) {
    rethrowShortage(error)
    return codeOf(error) === "EACCES" ? closedAt(Path.dirname(path)) : undefined
  }
}

/**
 * An entry that a glob names. Anything that is neither a directory nor a link counts as a file, so FIFOs and sockets
 * are masked like files.
 */
export interface Match {
  readonly path: string
  readonly kind: "file" | "directory" | "link"
  readonly rule: Rule
}

interface Search {
  /** Returns the rule that covers an entry of a directory (`PathRule.RuleMatcher`). */
  readonly findEntry: (directory: string, name: string, isDirectory: boolean) => Rule | undefined
  /** Directories that are not entered. */
  readonly skip?: ReadonlySet<string>
}

export interface Walked {
  readonly matches: ReadonlyArray<Match>
  /** The directories that hold a `HEAD`, as git directories do, or a `.git` that leads to one. */
  readonly heads: ReadonlyArray<string>
  /** Directories that commands may look into but the walk can't. One may lie around the roots. */
  readonly closed: ReadonlyArray<string>
  /**
   * When a directory's entries last changed, in ms. What moves between two directories may be seen in both or in
   * neither.
   */
  readonly changed: number
  /** True if a directory was gone when the walk came to it. It may have moved to where the walk has already been. */
  readonly isMoving: boolean
  /** The directories that had not changed for a while, by path: the next walk need not read them again. */
  readonly directories: ReadonlyMap<string, Directory>
}

/** How long the walk runs before it yields to other work, in ms. */
const slice = 12

const makeRest = () => {
  let until = performance.now() + slice
  return async () => {
    if (performance.now() <= until) return
    await turn()
    until = performance.now() + slice
  }
}

/**
 * Calls `visit` for every entry below the roots; its result says whether to enter a directory. Unreadable directories
 * are skipped.
 */
export const visitAll = async (
  roots: ReadonlyArray<string>,
  visit: (directory: string, entry: Entry) => boolean
): Promise<void> => {
  const left = [...roots]
  const rest = makeRest()
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    for (const entry of list(directory) ?? []) {
      if (visit(directory, entry) && entry.isDirectory()) left.push(join(directory, entry.name))
    }
    await rest()
  }
}

const join = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`

const statsOf = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false }))

/**
 * The types of file systems (`statfs`) on which each change of a directory's entries sets its time of change, which no
 * command can set: ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs. Others, such as FUSE, are read each time.
 */
const dated = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])

const isDated = (path: string): boolean =>
  Attempt.orElse(() => dated.has(Fs.statfsSync(BytePath.toHost(path)).type), false)

/**
 * A directory is remembered once it has not changed for this time, in ms. Old ext file systems keep times in whole
 * seconds: two changes in one second leave the same time.
 */
const coarsest = 1500

/**
 * Makes a test whether each later change of a directory's entries will show in its time of change. It is for one walk,
 * as it looks once at each file system. `now` is the time, in ms, before the directory was looked at.
 */
export const makeIsAtRest = () => {
  const devices = new Map<number, boolean>()
  return ({ ctimeMs, dev }: Pick<Fs.Stats, "ctimeMs" | "dev">, path: string, now: number): boolean => {
    if (ctimeMs >= now - coarsest) return false
    const isKnown = devices.get(dev) ?? isDated(path)
    devices.set(dev, isKnown)
    return isKnown
  }
}

/** The most directories that are remembered of one walk, with their subdirectories. */
const mostDirectories = 40_000
/** The most walks of which directories are remembered. */
const mostWalks = 8

/** A directory as a walk saw it: its identity, the subdirectories to enter, and the entries that the globs name. */
interface Directory extends Pick<Fs.Stats, "ctimeMs" | "dev" | "ino"> {
  readonly below: ReadonlyArray<string>
  readonly matches: ReadonlyArray<Match>
  readonly hasHead: boolean
}

/** Reads a directory and its identity by one descriptor: another may take its place meanwhile. */
const read = (path: string, reached: string, search: Search): Directory | undefined => {
  const descriptor = open(reached)
  if (descriptor === undefined) return undefined
  try {
    // Checked before reading, so that the next walk sees a change during the reading.
    const { ctimeMs, dev, ino } = Fs.fstatSync(descriptor)
    const entries = list(path, `/proc/self/fd/${descriptor}`)
    return entries && { ctimeMs, dev, ino, ...sort(path, entries, search) }
  } finally {
    Fs.closeSync(descriptor)
  }
}

const open = (path: string): number | undefined => {
  const { O_DIRECTORY, O_NOFOLLOW } = Fs.constants
  try {
    return Fs.openSync(BytePath.toHost(path), HeldDirectory.O_PATH | O_DIRECTORY | O_NOFOLLOW)
  } catch (error) {
    rethrowShortage(error)
    return undefined
  }
}

const sort = (path: string, entries: ReadonlyArray<Entry>, search: Search) => {
  const below: Array<string> = []
  const matches: Array<Match> = []
  let hasHead = false
  for (const entry of entries) {
    const { name } = entry
    const isDirectory = entry.isDirectory()
    if (name === "HEAD" || (name === ".git" && !isDirectory)) hasHead = true
    const rule = search.findEntry(path, name, isDirectory)
    if (rule !== undefined) {
      const kind = isDirectory ? "directory" : entry.isSymbolicLink() ? "link" : "file"
      matches.push({ path: join(path, name), kind, rule })
    } else if (isDirectory) {
      const directory = join(path, name)
      if (search.skip?.has(directory) !== true) below.push(directory)
    }
  }
  return { below, matches, hasHead }
}

/**
 * Finds all entries below the roots that the globs name, without entering a directory that a glob names. No root may
 * lie in another. Rejects if the system lacks descriptors or memory.
 *
 * @param earlier what an earlier walk for the same search found in directories at rest. One that has not changed is not
 *   read again.
 */
export const find = async (
  roots: ReadonlyArray<string>,
  search: Search,
  earlier?: Walked["directories"]
): Promise<Walked> => {
  const directories = new Map<string, Directory>()
  let size = 0
  const isAtRest = makeIsAtRest()
  const matches: Array<Match> = []
  const closed: Array<string> = []
  const heads: Array<string> = []
  let changed = 0
  let isMoving = false
  const gone = () => {
    isMoving = true
  }
  const known = (path: string, reached: string): Directory | undefined => {
    const directory = earlier?.get(path)
    const stats = directory && statsOf(reached)
    const isSame =
      directory?.ctimeMs === stats?.ctimeMs && directory?.ino === stats?.ino && directory?.dev === stats?.dev
    return isSame ? directory : undefined
  }
  const rest = makeRest()
  const walk = async (root: string, base: string): Promise<void> => {
    const left = [root]
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      const reached = root === "/" ? path : base + path.slice(root.length)
      const now = Date.now()
      const directory = known(path, reached) ?? read(path, reached, search)
      changed = Math.max(changed, (directory ?? statsOf(reached))?.ctimeMs ?? 0)
      if (directory === undefined) {
        const hidden = closedAt(path)
        if (hidden !== undefined) closed.push(hidden)
        else if (path !== root && HostPath.isMissing(path)) gone()
        continue
      }
      if (isAtRest(directory, reached, now)) {
        size += 1 + directory.below.length
        if (size < mostDirectories) directories.set(path, directory)
      }
      if (directory.hasHead) heads.push(path)
      for (const match of directory.matches) matches.push(match)
      for (const one of directory.below) left.push(one)
      await rest()
    }
  }
  for (const root of roots) {
    // A command of another session may replace the root by a link, to a place where the rules name nothing.
    const found = root === "/" ? undefined : Attempt.orUndefined(() => HeldDirectory.open(root))
    if (found?.isHere === false) gone()
    try {
      await walk(root, found?.isHere === true ? `${found.path}/.` : root)
    } finally {
      found?.close()
    }
  }
  return { matches, heads, closed, changed, isMoving, directories }
}

interface Shared {
  readonly running: Promise<Walked>
  next?: Promise<Walked>
}

/** For each search, the running walk and the one that follows it. */
const walks = GlobalValue.globalValue("synapse/FileWalk", () => new Map<string, Shared>())

/** The directories that the last walk of each search remembered. The latest search comes last. */
const remembered = GlobalValue.globalValue(
  "synapse/FileWalk/remembered",
  () => new Map<string, Walked["directories"]>()
)

/**
 * Walks as `find` does, once for everyone who asks for the same search before it begins, because one process may start
 * many sessions at once. No answer comes from a walk that began before the request.
 *
 * @param key names the search
 * @param walk is given what an earlier walk has found in directories at rest
 */
export const share = (
  key: string,
  walk: (earlier: Walked["directories"] | undefined) => Promise<Walked>
): Promise<Walked> => {
  const known = walks.get(key)
  if (known !== undefined) {
    known.next ??= known.running.then(begin, begin)
    return known.next
  }
  return begin()

  function begin(): Promise<Walked> {
    const running = walk(remembered.get(key)).then((walked) => {
      remembered.delete(key)
      remembered.set(key, walked.directories)
      for (const oldest of remembered.keys()) if (remembered.size > mostWalks) remembered.delete(oldest)
      return walked
    })
    const entry: Shared = { running }
    walks.set(key, entry)
    const end = () => {
      if (walks.get(key) === entry && entry.next === undefined) walks.delete(key)
    }
    running.then(end, end)
    return running
  }
}
