/**
 * Where a path leads on this machine, symbolic links followed, also where nothing is there yet.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as PathGlob from "./PathGlob.js"

/** As many as the kernel follows. */
const mostLinks = 40

/**
 * Where a path leads.
 *
 * @since 0.1.0
 * @category models
 */
export interface Followed {
  /** The real path; where nothing is there, that of the nearest directory that is, with the rest after it. */
  readonly real: string
  /** The places of the symbolic links on the way there, in order, each with its directory's real path. */
  readonly links: ReadonlyArray<string>
}

const readLink = (path: string): string | undefined => {
  try {
    return Fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Links that go in circles are followed so far and no further. */
const walk = (path: string): Followed => {
  const links: Array<string> = []
  const left = path.split("/").reverse()
  let real = "/"
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === "" || name === ".") continue
    if (name === "..") {
      real = Path.dirname(real)
      continue
    }
    const place = Path.join(real, name)
    const target = links.length < mostLinks ? readLink(place) : undefined
    if (target === undefined) {
      real = place
      continue
    }
    links.push(place)
    if (target.startsWith("/")) real = "/"
    left.push(...target.split("/").reverse())
  }
  return { real, links }
}

/**
 * Follows an absolute path as the kernel would: `..` after a link leaves the directory that it leads to.
 *
 * @since 0.1.0
 * @category following
 */
export const follow = (path: string): Followed => {
  try {
    // What most paths are, for a tenth of the price.
    if (Fs.realpathSync.native(path) === path) return { real: path, links: [] }
  } catch {
    // Nothing is there.
  }
  return walk(path)
}

/**
 * Follows the beginning of a pattern, up to its first wildcard.
 *
 * @since 0.1.0
 * @category following
 */
export const followPattern = (pattern: string): string => {
  const names = pattern.split("/")
  const first = names.findIndex((name) => PathGlob.hasWildcard(name))
  const directory = PathGlob.unescape(names.slice(0, first).join("/"))
  if (directory === "") return pattern
  const { real } = follow(directory)
  return `${real === "/" ? "" : PathGlob.escape(real)}/${names.slice(first).join("/")}`
}
