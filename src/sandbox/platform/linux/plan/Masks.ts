/**
 * Finds the paths that the blacklist hides, each with its rule, as the file system has them now.
 *
 * Only what exists can be masked. It is masked by its real path, which covers every symbolic link to it.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as SessionDirectory from "../../../../session/SessionDirectory.js"
import * as PathGlob from "../../../policy/PathGlob.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as FileWalk from "./FileWalk.js"
import * as HardLinks from "./HardLinks.js"
import type { Indexes } from "./IndexFile.js"
import * as MountTable from "./MountTable.js"
import * as WriteRoots from "./WriteRoots.js"

const { isWithin } = MountTable

/**
 * The directories that are searched for masks, and those that are left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Area {
  /** Real paths of what can be written (`WriteRoots`). */
  readonly roots: ReadonlyArray<string>
  /** Paths that are never masked because a link with a blacklisted name leads to them. */
  readonly needed: ReadonlyArray<string>
  /** Directories that the sandbox does not see in any case. */
  readonly hidden: ReadonlyArray<string>
}

const maskOf = (path: string, rule: Rule): Mask | undefined => {
  const real = WriteRoots.realPath(path)
  if (real === undefined || real === "/") return undefined
  try {
    return { path: real, kind: Fs.statSync(real).isDirectory() ? "directory" : "file", rule }
  } catch {
    return undefined
  }
}

/**
 * Finds what the rules without wildcards name; cheap enough to run before each command.
 *
 * @since 0.1.0
 */
export const literals = (policy: Pick<SandboxPolicy, "blacklist">): Array<Mask> =>
  policy.blacklist.flatMap((rule) => {
    const mask = rule.kind === "path" ? maskOf(rule.path, rule) : undefined
    return mask === undefined ? [] : [mask]
  })

/** Returns the directories that globs begin with, which are searched wherever they lie. */
const bases = (rules: ReadonlyArray<Rule>): Array<string> =>
  rules.flatMap(({ kind, path, real = path }) => {
    if (kind !== "glob") return []
    const names = real.split("/")
    const base = names.slice(0, names.findIndex(PathGlob.hasWildcard)).join("/")
    return base === "" ? [] : [WriteRoots.realPath(PathGlob.unescape(base)) ?? []].flat()
  })

const sessionsName = SessionDirectory.parentName()

/**
 * Makes a rule for the sessions of another directory for temporary files, whose files are read outside of every
 * sandbox.
 */
const sessionsRule = (path: string): Rule | undefined => {
  const at = Fs.lstatSync(path, { throwIfNoEntry: false })
  return at?.isDirectory() === true && (at.mode & 0o077) === 0
    ? { pattern: "sessions of Synapse", path, kind: "path", source: "own" }
    : undefined
}

const globs = async (
  policy: Pick<SandboxPolicy, "blacklist">,
  area: Area,
  indexes: Indexes | undefined
): Promise<Array<Mask>> => {
  const { blacklist } = policy
  if (!blacklist.some((rule) => rule.kind === "glob")) return []
  const rules = PathRule.make(blacklist)
  const matches = await FileWalk.find(WriteRoots.outermost([...area.roots, ...bases(blacklist)]), {
    findEntry: (directory, name) =>
      rules.findEntry(directory, name) ?? (name === sessionsName ? sessionsRule(`${directory}/${name}`) : undefined),
    // The directory's mode decides, which may change while the one around it does not.
    mayChange: (name) => name === sessionsName,
    skip: new Set(area.hidden),
    indexOf: (root) => indexes?.of(root, blacklist)
  })
  return matches.flatMap(({ kind, path, rule }) => {
    const mask = kind === "link" ? maskOf(path, rule) : { path, kind, rule }
    // A link to a directory that holds a needed path would make the sandbox useless, and any command can make one.
    const harmful = kind === "link" && area.needed.some((one) => mask !== undefined && isWithin(one, mask.path))
    return mask === undefined || harmful ? [] : [mask]
  })
}

const withAliases = (masks: ReadonlyArray<Mask>): Array<Mask> => {
  const mounts = MountTable.read("self")
  // Only a file system that is mounted twice gives a file a second path.
  const devices = new Map<string, number>()
  for (const { device } of mounts) devices.set(device, (devices.get(device) ?? 0) + 1)
  if (![...devices.values()].some((count) => count > 1)) return [...masks]
  return masks.flatMap((mask) => [
    mask,
    ...MountTable.aliases(mounts, mask.path).flatMap((path) => {
      const alias = maskOf(path, mask.rule)
      return alias?.path === path ? [alias] : []
    })
  ])
}

/** Keeps one mask for each path, and none in a directory that is masked or hidden. */
const withoutCovered = (masks: ReadonlyArray<Mask>, hidden: ReadonlyArray<string>): Array<Mask> => {
  const byPath = new Map<string, Mask>()
  for (const mask of masks) {
    if (!byPath.has(mask.path) && !hidden.some((one) => isWithin(mask.path, one))) byPath.set(mask.path, mask)
  }
  const directories = new Set(masks.filter((mask) => mask.kind === "directory").map((mask) => mask.path))
  const isCovered = (path: string): boolean => {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (directories.has(path.slice(0, end))) return true
    }
    return false
  }
  return [...byPath.values()].filter((mask) => !isCovered(mask.path))
}

/**
 * Finds all masks of a policy: what its rules name, other hard links of the same files, and other mounts of the same
 * file systems.
 *
 * @since 0.1.0
 */
export const find = async (
  policy: Pick<SandboxPolicy, "blacklist">,
  area: Area,
  indexes?: Indexes
): Promise<Array<Mask>> => {
  const named = withoutCovered([...literals(policy), ...(await globs(policy, area, indexes))], area.hidden)
  const linked = await HardLinks.find(named, area.roots)
  return withoutCovered(withAliases([...named, ...linked]), area.hidden)
}

/**
 * Returns the directories that must not be renamed, so that a rule without wildcards keeps its meaning: all between its
 * path and the root that makes them writable. The outermost come first.
 *
 * @since 0.1.0
 */
export const pins = (
  policy: Pick<SandboxPolicy, "blacklist">,
  { readonly, roots }: Pick<WriteRoots.WriteRoots, "roots" | "readonly">
): Array<string> => {
  const literal = policy.blacklist.flatMap((rule) => (rule.kind === "path" ? [rule.real ?? rule.path] : []))
  const found = new Set(
    [...literal, ...readonly].flatMap((path) => {
      const root = roots.find((one) => isWithin(path, one))
      return root === undefined ? [] : WriteRoots.between(root, path)
    })
  )
  return [...found].filter((path) => WriteRoots.realPath(path) === path).sort((a, b) => a.length - b.length)
}
