/**
 * Walks directories once for all globs together. Hidden, ignored and installed files are included; symbolic links to
 * directories are not followed.
 *
 * Reading synchronously takes half the time of reading asynchronously; so the walk yields to other work at intervals.
 */

import * as Fs from "node:fs"
import { setImmediate as turn } from "node:timers/promises"
import * as Descriptors from "../../../../../session/Descriptors.js"
import * as BytePath from "../../../../policy/BytePath.js"
import * as HostPath from "../../../../policy/HostPath.js"
import type { Rule } from "../../../../policy/SandboxPolicy.js"
import * as Entries from "../Entries.js"
import { type Directory, DirectoryIndex, type Kind, type Read } from "./DirectoryIndex.js"

/** The descriptor only names the directory: no right to read it is needed. */
const justThePath = 0o10000000

const flags = justThePath | Fs.constants.O_DIRECTORY | Fs.constants.O_NOFOLLOW

/** The most directories that are held at a time, and the part of this process's descriptors that they may take. */
const most = 1024
const part = 1 / 4

/** A directory that is held. */
interface Held {
  /** A path by which it is reached wherever it is. */
  readonly path: string
  /** Tests whether it was removed. */
  readonly isRemoved: () => boolean
  readonly close: () => void
}

/**
 * Holds a directory that must be the one of this real path; undefined where it is none. `gone` is called where a link leads
 * elsewhere by now: what is there says nothing of the directory.
 */
const holdAt = (path: string, gone: () => void): Held | undefined => {
  let descriptor: number
  try {
    descriptor = Fs.openSync(BytePath.toHost(path), justThePath | Fs.constants.O_DIRECTORY)
  } catch {
    return undefined
  }
  const reached = `/proc/self/fd/${descriptor}`
  const close = () => Fs.closeSync(descriptor)
  try {
    if (BytePath.readLink(reached) === path) {
      return { path: `${reached}/.`, isRemoved: () => Fs.fstatSync(descriptor).nlink === 0, close }
    }
    gone()
  } catch {
    // Without /proc, paths are all there is.
  }
  close()
  return undefined
}

/** The directories that a walk holds. */
class HeldDirectories {
  private readonly open = new Set<number>()
  private readonly room = Math.min(most, Math.floor((Descriptors.limit() ?? 0) * part))

  /**
   * Holds a directory; undefined where as many are held as may be, or there is none at that path. `gone` is called where
   * nothing is there.
   */
  hold(path: string, gone: () => void): Held | undefined {
    if (this.open.size >= this.room) return undefined
    let descriptor: number
    try {
      descriptor = Fs.openSync(BytePath.toHost(path), flags)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") gone()
      return undefined
    }
    this.open.add(descriptor)
    return {
      path: `/proc/self/fd/${descriptor}/.`,
      isRemoved: () => Fs.fstatSync(descriptor).nlink === 0,
      close: () => {
        if (this.open.delete(descriptor)) Fs.closeSync(descriptor)
      }
    }
  }

  close(): void {
    for (const descriptor of this.open) Fs.closeSync(descriptor)
    this.open.clear()
  }
}

/**
 * An entry that a glob names. Whatever is neither a directory nor a link counts as a file: FIFOs and sockets are masked
 * like one.
 */
export interface Match {
  readonly path: string
  readonly kind: Kind
  readonly rule: Rule
}

/** The options of `find`. */
export interface Search {
  /** Returns the rule that covers an entry of a directory (`PathRule.RuleMatcher`). */
  readonly findEntry: (directory: string, name: string) => Rule | undefined
  /**
   * Tests whether `findEntry` may answer differently for that name although the directory has not changed; by default,
   * it never does.
   */
  readonly mayChange?: (name: string) => boolean
  /** Directories that are not entered. */
  readonly skip?: ReadonlySet<string>
  /** Returns the index of a root, if there is one. */
  readonly indexOf?: (root: string) => DirectoryIndex | undefined
  /** Called with each directory that commands may look into, and the walk can't; it may be one around the roots. */
  readonly closed?: (directory: string) => void
  /**
   * Called for each directory whose entries have changed since a time in milliseconds: what is moved between two such
   * directories may be seen in both or in neither.
   */
  readonly changed?: { readonly since: number; readonly note: () => void }
  /** Called for each directory that is gone when the walk comes to it; it may have been moved to where it has been. */
  readonly vanished?: () => void
  /**
   * True holds new directories by a descriptor from when they are found until they are entered (`HeldDirectories`):
   * none vanishes then but by being removed. That takes longer.
   */
  readonly hold?: boolean
}

/** Milliseconds after which the walk yields to other work. */
const slice = 12

const none: ReadonlyArray<never> = []

/**
 * Calls `visit` for every entry below the roots; it returns whether to enter a directory. What can't be read is
 * skipped.
 */
export const visitAll = async (
  roots: ReadonlyArray<string>,
  visit: (directory: string, entry: Entries.Entry) => boolean
): Promise<void> => {
  const left = [...roots]
  let until = performance.now() + slice
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    for (const entry of Entries.list(directory) ?? none) {
      if (visit(directory, entry) && entry.isDirectory()) left.push(join(directory, entry.name))
    }
    if (performance.now() > until) {
      await turn()
      until = performance.now() + slice
    }
  }
}

const join = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`

const kindOf = (entry: Entries.Entry): Kind =>
  entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file"

const reader =
  ({ findEntry, mayChange }: Search, hold?: (path: string, name: string) => void): Read =>
  (path, at, known) => {
    const entries = Entries.list(path, at)
    if (entries === undefined) return undefined
    if (hold !== undefined) {
      // At once, for what is new is what may be gone again.
      for (const entry of entries) {
        if (entry.isDirectory() && known?.get(entry.name)?.stamp === undefined) hold(at, entry.name)
      }
    }
    let named: Array<readonly [string, Kind]> | undefined
    let directories: Array<Directory> | undefined
    for (const entry of entries) {
      const { name } = entry
      if (findEntry(path, name) !== undefined || mayChange?.(name) === true) {
        named ??= []
        named.push([name, kindOf(entry)])
      } else if (entry.isDirectory()) {
        directories ??= []
        directories.push({ name })
      }
    }
    return { named, directories, entries: entries.length }
  }

/**
 * Finds all entries below the roots that the globs name; does not enter a directory that a glob names. No root may lie
 * in another. Rejects where the system has no descriptors or no memory left.
 */
export const find = async (roots: ReadonlyArray<string>, search: Search): Promise<Array<Match>> => {
  const held = search.hold === true ? new HeldDirectories() : undefined
  try {
    return await walk(roots, search, held)
  } finally {
    held?.close()
  }
}

const walk = async (
  roots: ReadonlyArray<string>,
  search: Search,
  held: HeldDirectories | undefined
): Promise<Array<Match>> => {
  const { changed, closed, findEntry, skip, vanished } = search
  const gone = () => vanished?.()
  /** The directories in the one that was read last that were not there before, by their names. */
  const fresh = new Map<string, Held | undefined>()
  const matches: Array<Match> = []
  const read = reader(search, held && ((parent, name) => fresh.set(name, held.hold(join(parent, name), gone))))
  let until = performance.now() + slice
  const walkIn = async (root: string, base: string): Promise<void> => {
    const index = search.indexOf?.(root) ?? new DirectoryIndex({ name: root })
    const paths = [root]
    const directories: Array<Directory> = [index.root]
    const holds: Array<Held | undefined> = [held?.hold(root, gone)]
    const enter = (parent: string, reached: string, directory: Directory) => {
      const path = join(parent, directory.name)
      if (skip?.has(path) === true) return
      paths.push(path)
      directories.push(directory)
      // What the index remembers is old: it is seldom removed just now, and there may be much of it.
      const isOld = directory.stamp !== undefined
      const isTried = fresh.has(directory.name)
      if (isTried) holds.push(fresh.get(directory.name))
      else holds.push(isOld ? undefined : held?.hold(join(reached, directory.name), gone))
      fresh.delete(directory.name)
    }
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const directory = directories.pop() ?? { name: root }
      const hold = holds.pop()
      const reached = hold?.path ?? (root === "/" ? path : base + path.slice(root.length))
      for (const unused of fresh.values()) unused?.close()
      fresh.clear()
      const listing = index.list(path, directory, read, changed, reached)
      if (listing === undefined) {
        const hidden = closed && Entries.closedAt(path)
        if (hidden !== undefined) closed?.(hidden)
        else if (path !== root && hold?.isRemoved() !== true && HostPath.isMissing(path)) gone()
        hold?.close()
        continue
      }
      for (const [name, kind] of listing.named ?? none) {
        const rule = findEntry(path, name)
        if (rule !== undefined) matches.push({ path: join(path, name), kind, rule })
        else if (kind === "directory") enter(path, reached, { name })
      }
      for (const one of listing.directories ?? none) enter(path, reached, one)
      hold?.close()
      if (performance.now() > until) {
        await turn()
        until = performance.now() + slice
      }
    }
  }
  for (const root of roots) {
    // A command of another session may exchange the root for a link, which leads to where nothing is named.
    const found = root === "/" ? undefined : holdAt(root, gone)
    try {
      await walkIn(root, found?.path ?? root)
    } finally {
      found?.close()
    }
  }
  return matches
}
