/**
 * Resolves the symbolic links of a path, even if nothing exists at the path yet.
 */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "./BytePath.js"
import * as PathGlob from "./PathGlob.js"

/** How many symbolic links Linux follows in one path. */
const mostLinks = 40

/** A resolved path, and the symbolic links on the way. */
export interface Followed {
  /**
   * The real path. If nothing exists there, the real path of the nearest existing directory, followed by the remaining
   * names.
   */
  readonly real: string
  /** The symbolic links on the way, in order. The parent directory of each is a real path. */
  readonly links: ReadonlyArray<string>
}

/**
 * What is at a path: a symbolic link's target; `other` for anything else or unknown; `missing` if neither it nor
 * anything below it exists.
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
 * Resolves a path name by name. After `mostLinks` links or `mostNames` names, links count as plain names, so that
 * cycles end.
 */
const walk = (path: string, mostNames: number, toOutside: (path: string) => string): Followed => {
  const links: Array<string> = []
  const left = path.split("/").reverse()
  let real = "/"
  let seen = 0
  // The number of missing names at the end of `real`: below them, there are no links.
  let missing = 0
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === "" || name === ".") continue
    if (name === "..") {
      real = real.slice(0, real.lastIndexOf("/")) || "/"
      missing = Math.max(0, missing - 1)
      continue
    }
    const place = real === "/" ? `/${name}` : `${real}/${name}`
    const outside = toOutside(place)
    const there = missing > 0 || links.length >= mostLinks || ++seen > mostNames ? "other" : look(outside)
    if (there === "other" || there === "missing") {
      // What is shown below a directory of the sandbox's own is missing there outside.
      if ((there === "missing" && outside === place) || missing > 0) missing++
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
 * Resolves an absolute path as the kernel does: `..` after a link means the parent of the link's target.
 *
 * @param mostNames how many names are resolved before links count as plain names: a bound for paths and links that a
 *   command has made up
 * @param toOutside returns the path outside for a path in a sandbox, whose links lead to where they do there
 */
export const follow = (
  path: string,
  mostNames = Number.POSITIVE_INFINITY,
  toOutside: (path: string) => string = (same) => same
): Followed => {
  // Most paths have no links, and this check takes a tenth of the time.
  const outside = toOutside(path)
  const hasNone = Attempt.orElse(() => BytePath.realPath(outside) === outside, false)
  return hasNone ? { real: outside, links: [] } : walk(path, mostNames, toOutside)
}

/**
 * Makes a `follow` that resolves each path once, and paths in one directory relative to that result. Otherwise a
 * command of another session could replace a directory by a link between the check and the use.
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
      // The path can't be inspected.
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

/** Resolves the part of a pattern before its first wildcard. */
export const followPattern = (pattern: string): string => {
  const names = pattern.split("/")
  const first = names.findIndex((name) => PathGlob.hasWildcard(name))
  const directory = PathGlob.unescape(names.slice(0, first).join("/"))
  if (directory === "") return pattern
  const { real } = follow(directory)
  return `${real === "/" ? "" : PathGlob.escape(real)}/${names.slice(first).join("/")}`
}
