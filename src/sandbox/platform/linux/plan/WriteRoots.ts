/**
 * Resolves the paths that a policy allows writing to, as the file system has them now.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../../../domain/Attempt.js"
import * as Directories from "../../../../files/Directories.js"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as RealPath from "../../../policy/RealPath.js"
import { type Rule, realOf, type SandboxPolicy } from "../../../policy/SandboxPolicy.js"

/** The writable paths and the exceptions among them, as real paths. */
export interface WriteRoots {
  /** Existing directories and files, the outermost first. None lies in another. */
  readonly roots: ReadonlyArray<string>
  /** Paths in the roots that stay read-only. */
  readonly readonly: ReadonlyArray<string>
  /**
   * Whitelist entries that lead elsewhere than when the policy was built, or whose links a sandbox could have changed.
   */
  readonly refused: ReadonlyArray<Rule>
  /** The refused entries that lead elsewhere, and the sandbox's own directory if it is gone. */
  readonly moved: ReadonlyArray<Rule>
}

/** Returns the real path of a path; undefined if it does not exist or can't be reached. */
export const realPath = (path: string): string | undefined =>
  // Testing first takes a tenth of the time of an error.
  Attempt.orUndefined(() => Fs.statSync(BytePath.toHost(path), { throwIfNoEntry: false }) && BytePath.realPath(path))

/** Leaves out paths that lie in another one. */
export const outermost = (paths: Iterable<string>): Array<string> => {
  const kept: Array<string> = []
  for (const path of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((other) => isWithin(path, other))) kept.push(path)
  }
  return kept
}

/** Returns the directories between a root and a path in it, without the root, the outermost first. */
export const between = (root: string, path: string): Array<string> => {
  const found: Array<string> = []
  for (let at = Path.dirname(path); at !== root && isWithin(at, root); at = Path.dirname(at)) found.unshift(at)
  return found
}

/**
 * Tests whether a symbolic link on the way to a path lies in a writable directory and leads out of it: a sandboxed
 * command may have made it.
 */
const isLedAstray = (rule: Rule, places: ReadonlyArray<string>): boolean => {
  const { links, real } = RealPath.follow(rule.path)
  return links.some((link) => {
    const holders = places.filter((place) => link !== place && isWithin(link, place))
    return holders.length > 0 && !holders.some((place) => isWithin(real, place))
  })
}

/**
 * Creates the directory of a missing protected file, so that no command can create it. Does not create what another
 * session may have removed (`mayBeGone`). Returns the directory's real path; undefined if the directory does not exist.
 */
const hold = (path: string, { mayBeGone }: Rule): string | undefined => {
  const directory = Path.dirname(path)
  // A sandboxed command can't create it either.
  if (mayBeGone !== true) Attempt.ignore(() => Directories.make(directory, BytePath.toHost))
  return realPath(directory)
}

/**
 * Resolves the whitelist and the read-only paths of a policy.
 *
 * @param writable the rules for all places that commands may have written; by default, the whitelist
 */
export const make = (
  policy: Pick<SandboxPolicy, "whitelist" | "readonly">,
  writable: ReadonlyArray<Rule> = policy.whitelist
): WriteRoots => {
  const refused: Array<Rule> = []
  const moved: Array<Rule> = []
  const found: Array<string> = []
  const places = writable.map(realOf)
  for (const rule of policy.whitelist) {
    const real = realPath(rule.path)
    if (real === undefined) {
      if (rule.source === "cwd") moved.push(rule)
      continue
    }
    const isThere = real === realOf(rule)
    if (!isThere) moved.push(rule)
    if (isThere && !isLedAstray(rule, places)) found.push(real)
    else refused.push(rule)
  }
  const roots = outermost(found)
  const readonly: Array<string> = []
  for (const rule of policy.readonly) {
    const { path, real: written = path } = rule
    const expected = realPath(path) ?? RealPath.follow(written).real
    const root = roots.find((one) => isWithin(expected, one))
    if (root === undefined) continue
    const real = realPath(path) ?? hold(expected, rule)
    if (real !== undefined) readonly.push(real)
  }
  return { roots, readonly: outermost(readonly), refused, moved }
}
