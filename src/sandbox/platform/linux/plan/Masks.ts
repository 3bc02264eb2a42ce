/**
 * Finds the paths that the blacklist hides, each with its rule, as the file system has them now.
 *
 * Only what exists can be masked. It is masked by its real path, which covers every symbolic link to it.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as HostPath from "../../../policy/HostPath.js"
import * as PathGlob from "../../../policy/PathGlob.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as Entries from "./Entries.js"
import * as FileWalk from "./FileWalk.js"
import * as HardLinks from "./HardLinks.js"
import type { Indexes } from "./IndexFile.js"
import * as LinkTargets from "./LinkTargets.js"
import * as MaskFold from "./MaskFold.js"
import * as MountTable from "./MountTable.js"
import * as WriteRoots from "./WriteRoots.js"

const { isWithin } = HostPath

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
  /** Those among them without which no command can run: no directory around them is masked whole (`MaskFold`). */
  readonly vital?: ReadonlyArray<string>
  /** Directories that the sandbox does not see in any case. */
  readonly hidden: ReadonlyArray<string>
}

const maskOf = (path: string, rule: Rule): Mask | undefined => {
  const real = WriteRoots.realPath(path)
  if (real === undefined || real === "/") return undefined
  try {
    return { path: real, kind: Fs.statSync(BytePath.toHost(real)).isDirectory() ? "directory" : "file", rule }
  } catch {
    return undefined
  }
}

/** Makes the mask of a directory that hides from us what the blacklist may name, and that commands may look into. */
const closedMask = (directory: string, rule: Rule, roots: ReadonlyArray<string>): Array<Mask> => {
  const path = WriteRoots.realPath(directory)
  if (path === undefined || !roots.some((root) => isWithin(path, root))) return []
  return [{ path, kind: "directory", rule, reason: Entries.unsearchable }]
}

/**
 * Finds what rules without wildcards name; cheap enough to run before each command. Where a directory in the roots
 * hides whether that exists, the directory is masked.
 *
 * @since 0.1.0
 */
export const literals = (rules: ReadonlyArray<Rule>, roots: ReadonlyArray<string>): Array<Mask> =>
  rules.flatMap((rule) => {
    if (rule.kind !== "path") return []
    const mask = maskOf(rule.path, rule)
    if (mask !== undefined) return [mask]
    const hiding = Entries.hiding(rule.path)
    return hiding === undefined ? [] : closedMask(hiding, rule, roots)
  })

/** Returns the directories that globs begin with, which are searched wherever they lie. */
const bases = (rules: ReadonlyArray<Rule>): Array<string> =>
  rules.flatMap(({ kind, path, real = path }) => {
    if (kind !== "glob") return []
    const names = real.split("/")
    const base = names.slice(0, names.findIndex(PathGlob.hasWildcard)).join("/")
    return base === "" ? [] : [WriteRoots.realPath(PathGlob.unescape(base)) ?? []].flat()
  })

const sessionsName = PrivateDirectory.temporaryName()

/**
 * Makes a rule for the sessions of another directory for temporary files, whose files are read outside of every
 * sandbox.
 */
const sessionsRule = (path: string): Rule | undefined => {
  let at: Fs.Stats | undefined
  try {
    at = Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })
  } catch {
    // The directory around it can't be entered: the walk masks that one.
  }
  return at?.isDirectory() === true && (at.mode & 0o077) === 0
    ? { pattern: "sessions of Synapse", path, kind: "path", source: "own" }
    : undefined
}

/**
 * The outcome of a search.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly masks: Array<Mask>
  /** Rules for the places that dangling links with blacklisted names lead to: what appears there is to be masked. */
  readonly awaited: ReadonlyArray<Rule>
  /**
   * Tells whether something that was moved meanwhile may be missing: `still` where no directory has changed since the
   * time that was given, `moving` where one was gone when the walk came to it.
   */
  readonly calm: "still" | "changing" | "moving"
}

/**
 * The certainty that a search is to have.
 *
 * @since 0.1.0
 * @category models
 */
export interface Certainty {
  /** The time, in milliseconds, from which on a change of a directory makes the outcome uncertain. */
  readonly since?: number
  /** True tells directories that are removed from those that are moved meanwhile (`FileWalk`). */
  readonly hold?: boolean
}

/** The rule that denies a directory which can't be searched. */
const unsearched = (path: string): Rule => ({ pattern: "can't be searched", path, kind: "path", source: "own" })

const globs = async (
  policy: Pick<SandboxPolicy, "blacklist">,
  area: Area,
  indexes: Indexes | undefined,
  { hold = false, since = Number.POSITIVE_INFINITY }: Certainty
): Promise<Found> => {
  const { blacklist } = policy
  if (!blacklist.some((rule) => rule.kind === "glob")) return { masks: [], awaited: [], calm: "still" }
  const rules = PathRule.make(blacklist)
  const roots = WriteRoots.outermost([...area.roots, ...bases(blacklist)])
  // What lies around a rule's own path is masked by no link: the home, and what else the rules reach into.
  const needed = [
    ...area.needed,
    ...blacklist.flatMap(({ kind, path, real = path }) => (kind === "path" ? [real] : []))
  ]
  const masks: Array<Mask> = []
  const awaited: Array<Rule> = []
  let calm: Found["calm"] = "still"
  const matches = await FileWalk.find(roots, {
    findEntry: (directory, name) =>
      rules.findEntry(directory, name) ?? (name === sessionsName ? sessionsRule(`${directory}/${name}`) : undefined),
    // The directory's mode decides, which may change while the one around it does not.
    mayChange: (name) => name === sessionsName,
    skip: new Set(area.hidden),
    indexOf: (root) => indexes?.of(root, blacklist),
    closed: (directory) => {
      for (const mask of closedMask(directory, unsearched(directory), area.roots)) masks.push(mask)
    },
    changed: {
      since,
      note: () => {
        if (calm === "still") calm = "changing"
      }
    },
    vanished: () => {
      calm = "moving"
    },
    hold
  })
  for (const { kind, path, rule } of matches) {
    if (kind !== "link") masks.push({ path, kind, rule })
    else {
      const mask = maskOf(path, rule)
      if (mask === undefined) awaited.push(...[LinkTargets.awaited(path, rule) ?? []].flat())
      else if (!LinkTargets.isHarmful(mask.path, needed) && !LinkTargets.isFar(path, mask, area.roots)) masks.push(mask)
    }
  }
  return { masks, awaited, calm }
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
 * Searches for all masks of a policy: what its rules name, other hard links of the same files, and other mounts of the
 * same file systems. Rejects where the system has no descriptors or no memory left.
 *
 * @since 0.1.0
 */
export const search = async (
  policy: Pick<SandboxPolicy, "blacklist">,
  area: Area,
  indexes?: Indexes,
  certainty: Certainty = {}
): Promise<Found> => {
  const found = await globs(policy, area, indexes, certainty)
  const awaited = found.awaited.filter(({ path }) => area.roots.some((root) => isWithin(path, root)))
  const all = [...literals([...policy.blacklist, ...awaited], area.roots), ...found.masks]
  const fold = (masks: ReadonlyArray<Mask>) => MaskFold.fold(masks, area.roots, area.vital ?? area.needed)
  const named = fold(withoutCovered(all, area.hidden))
  const linked = await HardLinks.find(named, area.roots)
  const masks = withoutCovered(withAliases([...named, ...linked]), area.hidden)
  return { ...found, awaited, masks: [...fold(masks)] }
}

/**
 * Finds all masks of a policy (`search`).
 *
 * @since 0.1.0
 */
export const find = async (
  policy: Pick<SandboxPolicy, "blacklist">,
  area: Area,
  indexes?: Indexes
): Promise<Array<Mask>> => (await search(policy, area, indexes)).masks

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
