/** Translates between a sandbox's own `/tmp` and the directory outside that holds its files. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as HostPath from "./HostPath.js"
import * as Name from "./Name.js"
import * as PathEntry from "./PathEntry.js"
import * as RealPath from "./RealPath.js"
import { type Rule, realOf, type SandboxPolicy } from "./SandboxPolicy.js"

const { isWithin } = HostPath

type Known = Pick<SandboxPolicy, "granted" | "whitelist"> & { readonly temporary?: Rule | undefined }

/** Translates paths. Paths outside of the private directory stay the same. */
export interface PrivateTemporary {
  /** The real paths at which the sandbox sees the private directory instead of the system's. */
  readonly places: ReadonlyArray<string>
  /** The whitelist, without the rule for the system's directory if the sandbox does not see it. */
  readonly whitelist: ReadonlyArray<Rule>
  /** Returns the path outside for a path in the sandbox. */
  readonly toOutside: (path: string) => string
  /** Returns the path in the sandbox for a path outside. */
  readonly toInside: (path: string) => string
  /** Tests whether a path exists outside but not in the private directory, which hides it. */
  readonly isHidden: (path: string) => boolean
}

/** Tests whether a file is only the mount point of a session. */
export const isPlace = (path: string | Buffer): boolean =>
  Attempt.orElse(() => {
    const stats = Fs.lstatSync(path)
    return stats.isFile() && stats.size === 0 && (stats.mode & 0o777) === 0
  }, false)

const identity = (path: string): string => path

export const make = ({ granted = [], temporary, whitelist }: Known): PrivateTemporary => {
  if (temporary === undefined) {
    return { places: [], whitelist, toOutside: identity, toInside: identity, isHidden: () => false }
  }
  const own = realOf(temporary)
  const system = RealPath.follow("/tmp").real
  /** A TMPDIR that is the user's home, or one of the system's directories, is not replaced. */
  const isReplaced = (rule: Rule) =>
    rule.source === "tmp" &&
    (realOf(rule) === system ||
      (PathEntry.unwritable(realOf(rule)) === undefined && !own.startsWith(`${realOf(rule)}/.`)))
  const kept = whitelist.filter((rule) => !isReplaced(rule))
  const roots = kept.map(realOf)
  const shown = [own, ...roots, ...granted.map(realOf)]
  const places = [...new Set([system, ...whitelist.filter(isReplaced).map(realOf)])]
    .filter((place) => !roots.some((root) => isWithin(place, root)))
    .sort((a, b) => a.length - b.length)
  const move = (path: string, from: string, to: string) => to + path.slice(from.length)
  const toOutside = (path: string): string => {
    const place = places.findLast((one) => isWithin(path, one))
    // Above the private directory lies the sandbox's root, not Synapse's own directory.
    if (place !== undefined && /\/\.\.(?:\/|$)/.test(path)) return toOutside(Path.normalize(path))
    return place === undefined || shown.some((root) => isWithin(path, root)) ? path : move(path, place, own)
  }
  return {
    places,
    whitelist: kept,
    toOutside,
    toInside: (path) => {
      const [place] = places
      return place !== undefined && isWithin(path, own) ? move(path, own, place) : path
    },
    isHidden: (path) => {
      const outside = toOutside(path)
      return outside !== path && (HostPath.isMissing(outside) || isPlace(outside)) && !HostPath.isMissing(path)
    }
  }
}

/** The rule that a denial names if a command looks for something in the machine's `/tmp`. */
export const hiding: Rule = { pattern: "private /tmp", path: "/", kind: "path", source: "default" }

/** Says why commands do not see a file of the machine's `/tmp`, and where it leads if it is a link. */
export const hidden = (path: string): string => {
  const { real } = RealPath.follow(path)
  return `the sandbox has a /tmp of its own, and only the machine's has this${real === path ? "" : `: a link to ${Name.of(real)}`}`
}
