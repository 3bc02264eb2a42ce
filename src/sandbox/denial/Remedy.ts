/**
 * Finds the directory that has to be allowed so that a denied write can be done: the nearest one that exists, unless it is
 * too wide to be given away.
 */
import * as Os from "node:os"
import * as Path from "node:path"
import * as Quote from "../../bash/Quote.js"
import * as HostPath from "../policy/HostPath.js"
import * as PathEntry from "../policy/PathEntry.js"

/** A path to allow. `isThere` is false where it has to be made before: the directory above it is too wide. */
export interface Remedy {
  readonly path: string
  readonly isThere: boolean
}

/**
 * Finds the path to allow for a write; undefined where no sandbox may allow it.
 *
 * @param resource the real path that was to be written
 * @param cwd the directory that the sandbox is for
 */
export const find = (resource: string, cwd: string): Remedy | undefined => {
  const found = nearest(resource, cwd)
  return PathEntry.unwritable(found.path) === undefined ? found : undefined
}

/**
 * Returns the commands that allow several writes, each path once, and none that lies in another; undefined where no sandbox
 * may allow any of them.
 */
export const commands = (
  resources: ReadonlyArray<string>,
  cwd: string
): { readonly text: string; readonly areThere: boolean; readonly isOne: boolean } | undefined => {
  const found = new Map(resources.flatMap((resource) => find(resource, cwd) ?? []).map((each) => [each.path, each]))
  const paths = [...found.keys()]
  const widest = [...found.values()].filter(({ path }) => !paths.some((other) => path.startsWith(`${other}/`)))
  if (widest.length === 0) return undefined
  return {
    text: widest.map(({ path }) => `synapse sandbox allow ${Quote.line(path)}`).join("; "),
    areThere: widest.every(({ isThere }) => isThere),
    isOne: widest.length === 1
  }
}

const nearest = (resource: string, cwd: string): Remedy => {
  if (!HostPath.isMissing(resource)) return { path: resource, isThere: true }
  let path = resource
  let above = Path.posix.dirname(path)
  while (above !== "/" && HostPath.isMissing(above)) [path, above] = [above, Path.posix.dirname(above)]
  return isWide(above, cwd) ? { path, isThere: false } : { path: above, isThere: true }
}

const wide =
  /^\/(?:|bin|boot|dev|etc|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|(?:home|Users|usr|var|System|Library)(?:\/[^/]*)?)$/

/** Tests whether a directory holds much else: the system's own, a home directory, one that the project lies in. */
export const isWide = (directory: string, cwd: string): boolean =>
  wide.test(directory) || directory === homeDirectory() || cwd.startsWith(`${directory}/`)

/** A user whom the system does not know has none. */
const homeDirectory = (): string | undefined => {
  try {
    return Os.homedir()
  } catch {
    return undefined
  }
}
