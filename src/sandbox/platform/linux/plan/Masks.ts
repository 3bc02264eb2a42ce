/**
 * What the blacklist takes away: which paths, by which rules, as the file system has it now.
 *
 * Only what exists can be masked, and always by its real path, which covers every link to it.
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
 * Where masks are looked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Area {
  /** Real paths of what can be written (`WriteRoots`). */
  readonly roots: ReadonlyArray<string>
  /** What must stay usable whatever a link with a blacklisted name leads to. */
  readonly needed: ReadonlyArray<string>
  /** Directories that the sandbox does not see anyway. */
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
 * The rules without wildcards: cheap enough to be looked up before each command.
 *
 * @since 0.1.0
 */
export const literals = (policy: Pick<SandboxPolicy, "blacklist">): Array<Mask> =>
  policy.blacklist.flatMap((rule) => {
    const mask = rule.kind === "path" ? maskOf(rule.path, rule) : undefined
    return mask === undefined ? [] : [mask]
  })

/** A pattern that begins with a directory is looked for there, wherever that is. */
const bases = (rules: ReadonlyArray<Rule>): Array<string> =>
  rules.flatMap(({ kind, path, real = path }) => {
    if (kind !== "glob") return []
    const names = real.split("/")
    const base = names.slice(0, names.findIndex(PathGlob.hasWildcard)).join("/")
    return base === "" ? [] : [WriteRoots.realPath(PathGlob.unescape(base)) ?? []].flat()
  })

const sessionsName = SessionDirectory.parentName()

/** The sessions of another directory for temporary files: what lies in them is read outside of every sandbox. */
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
    // It is told by the directory's mode.
    mayChange: (name) => name === sessionsName,
    skip: new Set(area.hidden),
    indexOf: (root) => indexes?.of(root, blacklist)
  })
  return matches.flatMap(({ kind, path, rule }) => {
    const mask = kind === "link" ? maskOf(path, rule) : { path, kind, rule }
    // A link to where everything lies would make the sandbox useless, and a sandbox can make one.
    const harmful = kind === "link" && area.needed.some((one) => mask !== undefined && isWithin(one, mask.path))
    return mask === undefined || harmful ? [] : [mask]
  })
}

const withAliases = (masks: ReadonlyArray<Mask>): Array<Mask> => {
  const mounts = MountTable.read("self")
  // Where nothing is mounted twice, nothing has a second path.
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

/** One mask for a path, and none in a directory that is masked. */
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
 * All masks of a policy: literal rules, what the globs name in the places, other names of the same files, other mounts of
 * the same file systems.
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
 * The directories that must keep their names for a rule without wildcards to go on meaning what it means: all that lie
 * between it and the root that makes them writable. Outermost first.
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
