/**
 * Finds git directories without running git, which would run programs that their configuration names.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"
import * as HostPath from "./HostPath.js"

/** Limits of the search below a git directory: directories found, and levels. */
const mostBelow = 256
const deepest = 8

/** Reads a regular file without following links; undefined for anything else or a larger file. */
export const readBytes = (path: string, most: number): Buffer | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = Fs.constants
  // Checked first because an exception takes ten times as long.
  if (HostPath.isMissing(path)) return undefined
  return Attempt.orUndefined(() => {
    const descriptor = Fs.openSync(BytePath.toHost(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stats = Fs.fstatSync(descriptor)
      return stats.isFile() && stats.size <= most ? Fs.readFileSync(descriptor) : undefined
    } finally {
      Fs.closeSync(descriptor)
    }
  })
}

/** Reads a file as `readBytes` does, one character per byte. */
export const readFile = (path: string, most: number): string | undefined => readBytes(path, most)?.toString("latin1")

/** Reads a git file that holds a path, such as `commondir`. */
const readPath = (path: string): string | undefined => readFile(path, 4096)?.replace(/\n+$/, "")

const realPath = (path: string): string | undefined => Attempt.orUndefined(() => BytePath.realPath(path))

/** Tests whether git takes a directory for a git directory. */
const isOne = (path: string): boolean =>
  !HostPath.isMissing(`${path}/HEAD`) &&
  (!HostPath.isMissing(`${path}/objects`) || !HostPath.isMissing(`${path}/commondir`))

/** Returns the git directory of a working tree. `.git` may be a link or a file that points to it. */
export const ofTree = (top: string): string | undefined => {
  const path = `${top}/.git`
  if (HostPath.isMissing(path)) return undefined
  if (HostPath.isDirectory(path)) return realPath(path)
  const [, target] = /^gitdir: (.+)$/.exec(readPath(path) ?? "") ?? []
  return target === undefined ? undefined : realPath(Path.resolve(top, target))
}

/**
 * Returns the directory that holds a git directory's configuration and hooks: itself, or the one that all worktrees
 * share.
 */
export const commonOf = (path: string): string => {
  const named = readPath(`${path}/commondir`)
  return (named === undefined ? undefined : realPath(Path.resolve(path, named))) ?? path
}

const list = (path: string): ReadonlyArray<string> => Attempt.orElse(() => BytePath.namesIn(path), [])

/** Adds the git directories of submodules and worktrees. */
const addBelow = (directory: string, found: Set<string>, depth = 0): void => {
  for (const name of HostPath.isMissing(directory) ? [] : list(directory)) {
    const path = `${directory}/${name}`
    if (found.size >= mostBelow) return
    if (realPath(path) !== path) continue
    if (isOne(path)) add(path, found)
    // A submodule's name may contain slashes.
    else if (depth < deepest) addBelow(path, found, depth + 1)
  }
}

const add = (path: string, found: Set<string>): void => {
  if (found.has(path)) return
  found.add(path)
  const common = commonOf(path)
  if (common !== path) add(common, found)
  addBelow(`${path}/modules`, found)
  addBelow(`${path}/worktrees`, found, deepest)
}

/** Returns the real paths of the git directories for a directory itself, not for one around it. */
export const at = (directory: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const tree = ofTree(directory)
  if (tree !== undefined) add(tree, found)
  const bare = isOne(directory) ? realPath(directory) : undefined
  if (bare !== undefined) add(bare, found)
  return found
}

/** Returns a directory and its ancestors, nearest first. */
export const upwards = (directory: string): ReadonlyArray<string> =>
  directory === "/" ? ["/"] : [directory, ...upwards(Path.dirname(directory))]

export const topOf = (directory: string): string | undefined =>
  upwards(directory).find((path) => !HostPath.isMissing(`${path}/.git`))

/** Returns the git directory's path as `.git` states it; undefined if a link states it. */
export const namedAt = (top: string): string | undefined => {
  const path = `${top}/.git`
  if (HostPath.isDirectory(path)) return HostPath.isLink(path, "/") ? undefined : path
  const [, target] = /^gitdir: (.+)$/.exec(readPath(path) ?? "") ?? []
  return target === undefined ? undefined : Path.resolve(top, target)
}

const isSame = (path: string, real: string): boolean => realPath(path) === real

/**
 * Tests for the parts that git creates in each repository. A directory that lacks one of the read-only parts is left
 * alone.
 */
const isRepository = (path: string): boolean =>
  ["objects", "refs", "hooks"].every((name) => isSame(`${path}/${name}`, `${path}/${name}`)) &&
  ["HEAD", "config"].every((name) => readBytes(`${path}/${name}`, 1024 ** 2) !== undefined)

/**
 * Returns the real path of the common directory that git writes for a working tree. Undefined if a `.git` file names a
 * repository that does not name the working tree in turn, because a command could have written the file.
 *
 * @param top a real path
 * @param named the path that stands for its git directory
 */
export const repositoryOf = (top: string, named: string): string | undefined => {
  const real = realPath(named)
  if (real === undefined) return undefined
  const file = `${top}/.git`
  if (named === file) return real === file && isRepository(file) ? file : undefined
  const worktrees = Path.dirname(real)
  const common = Path.dirname(worktrees)
  if (Path.basename(worktrees) === "worktrees" && isRepository(common)) {
    const [shared, back] = [readPath(`${real}/commondir`), readPath(`${real}/gitdir`)]
    const isBack = shared !== undefined && back !== undefined && isSame(Path.resolve(real, back), file)
    return isBack && isSame(Path.resolve(real, shared), common) ? common : undefined
  }
  if (!/\/modules\/./.test(real) || !isRepository(real)) return undefined
  const config = readFile(`${real}/config`, 1024 ** 2) ?? ""
  const [, quoted, plain] = /^\s*worktree\s*=\s*(?:"([^"\\\n]*)"|([^"\\#;\n]*?))\s*$/m.exec(config) ?? []
  const tree = quoted ?? plain
  return tree !== undefined && isSame(Path.resolve(real, tree), top) ? real : undefined
}
