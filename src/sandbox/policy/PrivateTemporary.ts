/** Translates between a sandbox's own `/tmp` and the directory outside that holds its files. */
import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as HostPath from "./HostPath.js"
import * as PathEntry from "./PathEntry.js"
import * as RealPath from "./RealPath.js"
import type { Rule, SandboxPolicy } from "./SandboxPolicy.js"

const { isWithin } = HostPath

type Known = Pick<SandboxPolicy, "granted" | "whitelist"> & { readonly temporary?: Rule | undefined }

/** A translation of paths; those that no private directory holds stay the same. */
export interface PrivateTemporary {
  /** The places of the private directory in the sandbox, by their real paths: the system's own is not seen there. */
  readonly places: ReadonlyArray<string>
  /** The whitelist, without the rule for the system's directory where that is not seen. */
  readonly whitelist: ReadonlyArray<Rule>
  /** Returns the path outside at which a path of the sandbox lies. */
  readonly toOutside: (path: string) => string
  /** Returns the path in the sandbox of a path outside. */
  readonly toInside: (path: string) => string
  /** Tests whether a path exists outside, and the private directory, which hides it, has nothing of that name. */
  readonly isHidden: (path: string) => boolean
}

const realOf = ({ path, real = path }: Rule): string => real

/** Tests whether a file only is a place to mount another one on, which an earlier session was given. */
const isPlace = (path: string): boolean =>
  Attempt.orElse(() => {
    const stats = Fs.lstatSync(path)
    return stats.isFile() && stats.size === 0 && (stats.mode & 0o777) === 0
  }, false)

const identity = (path: string): string => path

/** Makes the translation for a policy. */
export const make = ({ granted = [], temporary, whitelist }: Known): PrivateTemporary => {
  if (temporary === undefined) {
    return { places: [], whitelist, toOutside: identity, toInside: identity, isHidden: () => false }
  }
  const own = realOf(temporary)
  const system = RealPath.follow("/tmp").real
  /** A TMPDIR that is the user's home, or the system's, is not replaced. */
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

/** The rule that a denial names where a command looks for what the machine has in its `/tmp`. */
export const hiding: Rule = { pattern: "private /tmp", path: "/", kind: "path", source: "default" }
