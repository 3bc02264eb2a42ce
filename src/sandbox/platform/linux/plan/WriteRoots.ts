/**
 * What a policy lets be written, as the file system has it now.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as RealPath from "../../../policy/RealPath.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import { isWithin } from "./MountTable.js"

/**
 * All paths are real ones.
 *
 * @since 0.1.0
 * @category models
 */
export interface WriteRoots {
  /** Directories and files that exist, outermost first; none lies in another. */
  readonly roots: ReadonlyArray<string>
  /** What lies in them and stays read-only. */
  readonly readonly: ReadonlyArray<string>
  /** Entries of the whitelist that lead elsewhere than when the policy was built, or that a sandbox could have led there. */
  readonly refused: ReadonlyArray<Rule>
}

/**
 * The real path of what is there; undefined where nothing is, or nothing that can be come to.
 *
 * @since 0.1.0
 */
export const realPath = (path: string): string | undefined => {
  try {
    // To look first is a tenth of the price of an error.
    return Fs.statSync(path, { throwIfNoEntry: false }) && Fs.realpathSync.native(path)
  } catch {
    return undefined
  }
}

/**
 * Leaves out what lies in another one.
 *
 * @since 0.1.0
 */
export const outermost = (paths: Iterable<string>): Array<string> => {
  const kept: Array<string> = []
  for (const path of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((other) => isWithin(path, other))) kept.push(path)
  }
  return kept
}

/**
 * The directories between a root and a path in it, without the root, innermost last.
 *
 * @since 0.1.0
 */
export const between = (root: string, path: string): Array<string> => {
  const found: Array<string> = []
  for (let at = Path.dirname(path); at !== root && isWithin(at, root); at = Path.dirname(at)) found.unshift(at)
  return found
}

/**
 * A link that lies in something writable may have been put there from inside of a sandbox: it is followed no further than
 * what holds it may be written.
 */
const isLedAstray = (rule: Rule, places: ReadonlyArray<string>): boolean => {
  const { links, real } = RealPath.follow(rule.path)
  return links.some((link) => {
    const holders = places.filter((place) => link !== place && isWithin(link, place))
    return holders.length > 0 && !holders.some((place) => isWithin(real, place))
  })
}

/** Something of our own that does not exist yet could be made from inside: so its directory is made here, and held. */
const hold = (path: string): string | undefined => {
  const directory = Path.dirname(path)
  try {
    Fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch {
    // Then it can't be made from inside either.
  }
  return realPath(directory)
}

/**
 * Looks everything up.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (policy: Pick<SandboxPolicy, "whitelist" | "readonly">): WriteRoots => {
  const refused: Array<Rule> = []
  const found: Array<string> = []
  const places = policy.whitelist.map((rule) => rule.real ?? rule.path)
  for (const rule of policy.whitelist) {
    const real = realPath(rule.path)
    if (real === undefined) continue
    if (real === (rule.real ?? rule.path) && !isLedAstray(rule, places)) found.push(real)
    else refused.push(rule)
  }
  const roots = outermost(found)
  const readonly: Array<string> = []
  for (const { path, real: written = path } of policy.readonly) {
    const expected = realPath(path) ?? RealPath.follow(written).real
    const root = roots.find((one) => isWithin(expected, one))
    if (root === undefined) continue
    const real = realPath(path) ?? hold(expected)
    if (real !== undefined) readonly.push(real)
  }
  return { roots, readonly: outermost(readonly), refused }
}
