/** Resolves the symbolic links of a path, also where nothing exists at the path yet. */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"
import * as PathGlob from "./PathGlob.js"

/** The number of symbolic links that Linux follows in one path. */
const mostLinks = 40

/** A resolved path, and the symbolic links on the way. */
export interface Followed {
  /**
   * The real path; where nothing exists, the real path of the nearest directory that does, with the remaining names
   * after it.
   */
  readonly real: string
  /** The paths of the symbolic links on the way, in order; the directory of each is a real path. */
  readonly links: ReadonlyArray<string>
}

/**
 * The kind of file at a path: the target of a symbolic link; `other` for anything else, also where it is not known;
 * `missing` where there is nothing, so that nothing lies below it either.
 */
type Place = { readonly target: string } | "other" | "missing"

const look = (path: string): Place => {
  try {
    const stats = Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })
    if (stats === undefined) return "missing"
    return stats.isSymbolicLink() ? { target: BytePath.readLink(path) } : "other"
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENAMETOOLONG" ? "missing" : "other"
  }
}

/**
 * Resolves a path name by name. After `mostLinks` links, further ones are taken for plain names, so that circles end;
 * and after `mostNames` names.
 */
const walk = (path: string, mostNames: number): Followed => {
  const links: Array<string> = []
  const left = path.split("/").reverse()
  let real = "/"
  let seen = 0
  // The number of names at the end of `real` that are missing, below which there are no links.
  let missing = 0
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === "" || name === ".") continue
    if (name === "..") {
      real = real.slice(0, real.lastIndexOf("/")) || "/"
      missing = Math.max(0, missing - 1)
      continue
    }
    const place = real === "/" ? `/${name}` : `${real}/${name}`
    const there = missing > 0 || links.length >= mostLinks || ++seen > mostNames ? "other" : look(place)
    if (there === "other" || there === "missing") {
      if (there === "missing" || missing > 0) missing++
      real = place
      continue
    }
    links.push(place)
    if (there.target.startsWith("/")) real = "/"
    left.push(...there.target.split("/").reverse())
  }
  return { real, links }
}

/**
 * Resolves an absolute path as the kernel does: `..` after a link means the parent of the directory that the link leads
 * to.
 *
 * @param mostNames the number of names after which symbolic links are taken for plain names: a bound for paths and
 * links that a command has made up, of which nobody may be sure
 */
export const follow = (path: string, mostNames = Number.POSITIVE_INFINITY): Followed => {
  // Most paths have no links: this finds that out in a tenth of the time.
  const hasNone = Attempt.orElse(() => BytePath.realPath(path) === path, false)
  return hasNone ? { real: path, links: [] } : walk(path, mostNames)
}

/**
 * Makes a `follow` that resolves each path once, and what lies in one directory from there, so that what is tested of a path
 * is true of what is made of it: a command of another session may exchange a directory for a link between two looks.
 */
export const once = (): ((path: string) => Followed) => {
  const known = new Map<string, Followed>()
  const resolve = (path: string): Followed => {
    const end = path.lastIndexOf("/")
    const base = path.slice(end + 1)
    if (end < 0 || /^\.{0,2}$/.test(base)) return follow(path)
    const { links, real: parent } = find(path.slice(0, end) || "/")
    const real = `${parent === "/" ? "" : parent}/${base}`
    try {
      const at = Fs.lstatSync(BytePath.toHost(real), { throwIfNoEntry: false })
      if (at?.isSymbolicLink() !== true) return { real, links }
    } catch {
      // It can't be looked at.
    }
    return follow(path)
  }
  const find = (path: string): Followed => {
    const found = known.get(path) ?? resolve(path)
    known.set(path, found)
    return found
  }
  return find
}

/** Resolves the beginning of a pattern, up to its first wildcard. */
export const followPattern = (pattern: string): string => {
  const names = pattern.split("/")
  const first = names.findIndex((name) => PathGlob.hasWildcard(name))
  const directory = PathGlob.unescape(names.slice(0, first).join("/"))
  if (directory === "") return pattern
  const { real } = follow(directory)
  return `${real === "/" ? "" : PathGlob.escape(real)}/${names.slice(first).join("/")}`
}
