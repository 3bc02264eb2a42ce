/**
 * Walks directories once for all globs together. Hidden, ignored and installed files are included; symbolic links to
 * directories are not followed.
 *
 * Reading synchronously takes half the time of reading asynchronously; so the walk yields to other work at intervals.
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

/** An entry of a directory; its name is one of `BytePath`. */
type Entry = Pick<Fs.Dirent, "name" | "isDirectory" | "isFile" | "isSocket" | "isSymbolicLink">

/** The most bytes of a directory's path that are walked on from: what is in it still has a path that a mount takes. */
const longest = 3800

/** The codes of errors by which the system lacks something itself: nothing is known of the path then. */
const shortages = new Set(["EMFILE", "ENFILE", "ENOMEM"])

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const rethrowShortage = (error: unknown): void => {
  if (shortages.has(codeOf(error) ?? "")) throw error
}

const isTooLong = (path: string): boolean => path.length * 3 > longest && BytePath.encode(path).length > longest

/**
 * Lists a directory, which may be reached by another path; undefined where it can't be listed (`closedAt` tells why), or
 * its path is too long to go on. Throws where the system has no descriptors or no memory left.
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
 * Tests whether commands can make a directory give up what is in it: they may enter it, or may change its rights. Throws
 * where it is not there.
 */
const isWithinReach = (directory: string): boolean => {
  const at = Fs.lstatSync(BytePath.toHost(directory))
  return at.isDirectory() && (at.uid === process.geteuid?.() || HostPath.isAccessible(directory, Fs.constants.X_OK))
}

/** Tests whether a directory is this user's. */
export const isOwn = (directory: string): boolean =>
  Attempt.orElse(() => Fs.lstatSync(BytePath.toHost(directory)).uid === process.geteuid?.(), false)

/** The reason why such a directory is masked whole. */
export const unsearchable = "it can't be searched for what the blacklist names"

/**
 * Returns the directory that hides a path from a walk, and that commands may look into: the path itself, which can't be
 * listed, or the one on the way to it that can't be entered. Undefined where there is none: the path is gone, is no
 * directory, or is closed to commands too.
 */
const closedAt = (path: string): string | undefined => {
  try {
    return isWithinReach(path) ? path : undefined
  } catch (error) {
    rethrowShortage(error)
    return codeOf(error) === "EACCES" && path !== "/" ? closedAt(Path.dirname(path)) : undefined
  }
}

/** Returns the directory that hides from us whether anything exists at a path, and that commands may look into. */
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
 * An entry that a glob names. Whatever is neither a directory nor a link counts as a file: FIFOs and sockets are masked
 * like one.
 */
export interface Match {
  readonly path: string
  readonly kind: "file" | "directory" | "link"
  readonly rule: Rule
}

/** The options of `find`. */
interface Search {
  /** Returns the rule that covers an entry of a directory (`PathRule.RuleMatcher`). */
  readonly findEntry: (directory: string, name: string, isDirectory: boolean) => Rule | undefined
  /** Directories that are not entered. */
  readonly skip?: ReadonlySet<string>
}

/** What a walk has found. */
export interface Walked {
  readonly matches: ReadonlyArray<Match>
  /** The directories that hold a `HEAD`, as a git directory does. */
  readonly heads: ReadonlyArray<string>
  /** Directories that commands may look into, and the walk can't; one may lie around the roots. */
  readonly closed: ReadonlyArray<string>
  /**
   * The last time, in milliseconds, at which a directory's entries have changed: what is moved between two directories
   * may be seen in both or in neither.
   */
  readonly changed: number
  /** True where a directory was gone when the walk came to it; it may have been moved to where it has been. */
  readonly isMoving: boolean
}

/** Milliseconds after which the walk yields to other work. */
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
 * Calls `visit` for every entry below the roots; it returns whether to enter a directory. What can't be read is
 * skipped.
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

const changeOf = (path: string): number =>
  Attempt.orElse(() => Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })?.ctimeMs ?? 0, 0)

/**
 * Finds all entries below the roots that the globs name; does not enter a directory that a glob names. No root may lie
 * in another. Rejects where the system has no descriptors or no memory left.
 */
export const find = async (roots: ReadonlyArray<string>, { findEntry, skip }: Search): Promise<Walked> => {
  const matches: Array<Match> = []
  const closed: Array<string> = []
  const heads: Array<string> = []
  let changed = 0
  let isMoving = false
  const gone = () => {
    isMoving = true
  }
  const rest = makeRest()
  const walk = async (root: string, base: string): Promise<void> => {
    const left = [root]
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      const reached = root === "/" ? path : base + path.slice(root.length)
      // Looked at before it is read: a change meanwhile is seen by the next walk.
      changed = Math.max(changed, changeOf(reached))
      const entries = list(path, reached)
      if (entries === undefined) {
        const hidden = closedAt(path)
        if (hidden !== undefined) closed.push(hidden)
        else if (path !== root && HostPath.isMissing(path)) gone()
        continue
      }
      for (const entry of entries) {
        if (entry.name === "HEAD") heads.push(path)
        const rule = findEntry(path, entry.name, entry.isDirectory())
        const kind = entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file"
        if (rule !== undefined) matches.push({ path: join(path, entry.name), kind, rule })
        else if (kind === "directory" && skip?.has(join(path, entry.name)) !== true) left.push(join(path, entry.name))
      }
      await rest()
    }
  }
  for (const root of roots) {
    // A command of another session may exchange the root for a link, which leads to where nothing is named.
    const found = root === "/" ? undefined : Attempt.orUndefined(() => HeldDirectory.open(root))
    if (found?.isHere === false) gone()
    try {
      await walk(root, found?.isHere === true ? `${found.path}/.` : root)
    } finally {
      found?.close()
    }
  }
  return { matches, heads, closed, changed, isMoving }
}

/** The walk that runs for each search, and the one that is to follow it. */
const walks = GlobalValue.globalValue(
  "synapse/FileWalk",
  () => new Map<string, { running: Promise<Walked>; next?: Promise<Walked> | undefined }>()
)

/**
 * Walks as `find` does, once for all who ask for the same search before it begins: many sessions of one process start
 * at a time. No answer is of a walk that began before it was asked for.
 *
 * @param key names the search
 */
export const share = (key: string, walk: () => Promise<Walked>): Promise<Walked> => {
  const known = walks.get(key)
  if (known !== undefined) {
    known.next ??= known.running.then(begin, begin)
    return known.next
  }
  return begin()

  function begin(): Promise<Walked> {
    const running = walk()
    const entry: { running: Promise<Walked>; next?: Promise<Walked> } = { running }
    walks.set(key, entry)
    const end = () => {
      if (walks.get(key) === entry && entry.next === undefined) walks.delete(key)
    }
    running.then(end, end)
    return running
  }
}
