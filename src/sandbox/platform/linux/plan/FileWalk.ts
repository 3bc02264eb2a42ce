/**
 * Walks directories once for all globs together. Hidden, ignored and installed files are included; symbolic links to
 * directories are not followed.
 *
 * Reading synchronously takes half the time of reading asynchronously; so the walk yields to other work at intervals.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import { setImmediate as turn } from "node:timers/promises"
import type { Rule } from "../../../policy/SandboxPolicy.js"
import type { Directory, DirectoryIndex, Kind, Read } from "./DirectoryIndex.js"

/**
 * An entry that a glob names. Whatever is neither a directory nor a link counts as a file: FIFOs and sockets are masked
 * like one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Match {
  readonly path: string
  readonly kind: Kind
  readonly rule: Rule
}

/**
 * The options of `find`.
 *
 * @since 0.1.0
 * @category models
 */
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
}

/** Milliseconds after which the walk yields to other work. */
const slice = 12

/**
 * Calls `visit` for every entry below the roots; it returns whether to enter a directory. What can't be read is
 * skipped: the sandbox can't read it either, and once somebody makes it readable, the next walk finds it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const visitAll = async (
  roots: ReadonlyArray<string>,
  visit: (directory: string, entry: Fs.Dirent) => boolean
): Promise<void> => {
  const left = [...roots]
  let until = performance.now() + slice
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    let entries: Array<Fs.Dirent>
    try {
      entries = Fs.readdirSync(directory, { withFileTypes: true })
    } catch {
      continue
    }
    for (const entry of entries) {
      if (visit(directory, entry) && entry.isDirectory()) left.push(join(directory, entry.name))
    }
    if (performance.now() > until) {
      await turn()
      until = performance.now() + slice
    }
  }
}

const join = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`

const none: ReadonlyArray<never> = []

const kindOf = (entry: Fs.Dirent): Kind =>
  entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file"

const reader =
  ({ findEntry, mayChange }: Search): Read =>
  (path) => {
    try {
      const entries = Fs.readdirSync(path, { withFileTypes: true })
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
    } catch {
      return undefined
    }
  }

/**
 * Finds all entries below the roots that the globs name; does not enter a directory that a glob names. No root may lie
 * in another.
 *
 * @since 0.1.0
 */
export const find = async (roots: ReadonlyArray<string>, search: Search): Promise<Array<Match>> => {
  const { findEntry, indexOf, skip } = search
  const matches: Array<Match> = []
  const read = reader(search)
  let until = performance.now() + slice
  for (const root of roots) {
    const index = indexOf?.(root)
    const paths = [root]
    const directories: Array<Directory> = [index?.root ?? { name: root }]
    const enter = (path: string, directory: Directory) => {
      if (skip?.has(path) === true) return
      paths.push(path)
      directories.push(directory)
    }
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const directory = directories.pop() ?? { name: root }
      const listing = index === undefined ? read(path) : index.list(path, directory, read)
      if (listing === undefined) continue
      for (const [name, kind] of listing.named ?? none) {
        const rule = findEntry(path, name)
        if (rule !== undefined) matches.push({ path: join(path, name), kind, rule })
        else if (kind === "directory") enter(join(path, name), { name })
      }
      for (const one of listing.directories ?? none) enter(join(path, one.name), one)
      if (performance.now() > until) {
        await turn()
        until = performance.now() + slice
      }
    }
  }
  return matches
}
