/**
 * One walk over directories for all globs together: hidden, ignored and installed files included, symbolic links to
 * directories not followed.
 *
 * Reading synchronously takes half the time of reading asynchronously; the walk lets others have their turn in between.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import { setImmediate as turn } from "node:timers/promises"
import type { Rule } from "../../../policy/SandboxPolicy.js"
import type { Directory, DirectoryIndex, Kind, Read } from "./DirectoryIndex.js"

/**
 * An entry that a glob names. Everything that is no directory and no link is a file here: FIFOs and sockets are masked
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
 * What a walk looks for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Search {
  /** The rule that an entry of a directory falls under (`PathRule.RuleMatcher`). */
  readonly findEntry: (directory: string, name: string) => Rule | undefined
  /** Whether the answer for that name may be another the next time, while the directory is the same; never where not given. */
  readonly mayChange?: (name: string) => boolean
  /** Directories not to enter. */
  readonly skip?: ReadonlySet<string>
  /** The index of a root, if there is one. */
  readonly indexOf?: (root: string) => DirectoryIndex | undefined
}

/** Milliseconds without a turn for others. */
const slice = 12

/**
 * Calls `visit` for every entry below the roots; it says whether to go into a directory. What can't be read is passed over:
 * neither can the sandbox read it, unless somebody gives it the right, and then the next walk finds it.
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
 * Finds all that the globs name below the roots, and no deeper where they name a directory. Roots must not lie in each other.
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
