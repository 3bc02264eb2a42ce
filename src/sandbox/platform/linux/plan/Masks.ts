/**
 * Finds the paths that the blacklist hides, each with its rule, as the file system has them now.
 *
 * Only what exists can be masked. It is masked by its real path, which covers every symbolic link to it.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../../../domain/Attempt.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as DefaultSecrets from "../../../policy/DefaultSecrets.js"
import { GitHeld } from "../../../policy/GitHeld.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as PathGlob from "../../../policy/PathGlob.js"
import * as PathRule from "../../../policy/PathRule.js"
import * as RealPath from "../../../policy/RealPath.js"
import { type Rule, realOf, type SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as FileWalk from "./FileWalk.js"
import * as MountTable from "./MountTable.js"
import * as WriteRoots from "./WriteRoots.js"

/** The approximate limit of masks in a sandbox. */
const most = 4000

/** Why such a directory is masked whole. */
export const crowded = "it holds more of what the blacklist names than can be hidden one by one"

/**
 * Reduces masks to the limit by masking whole directories. Only roots and directories in them are masked so, and none
 * that holds something needed. Throws if too many masks remain.
 *
 * @param needed paths without which no command can run
 * @param limit the most masks
 */
export const foldMasks = (
  masks: ReadonlyArray<Mask>,
  roots: ReadonlyArray<string>,
  needed: ReadonlyArray<string>,
  limit = most
): ReadonlyArray<Mask> => {
  if (masks.length <= limit) return masks
  const mayFold = (directory: string) =>
    roots.some((root) => isWithin(directory, root)) && !needed.some((path) => isWithin(path, directory))
  /** The number of masks below each directory that may be masked whole. */
  const sizes = new Map<string, number>()
  const sizeOf = (directory: string) => sizes.get(directory) ?? 0
  for (const { path } of masks) {
    for (let at = Path.dirname(path); sizes.has(at) || mayFold(at); at = Path.dirname(at)) sizes.set(at, sizeOf(at) + 1)
  }
  const chosen = new Set<string>()
  let left = masks.length
  const tops = [...sizes.keys()].filter((path) => !sizes.has(Path.dirname(path))).sort((a, b) => sizeOf(b) - sizeOf(a))
  for (const top of tops) {
    const excess = left - limit
    if (excess <= 0 || sizeOf(top) < 2) break
    // Hides no more than needed: picks the smallest sufficient directory, and of those the deepest.
    const enough = sizeOf(top) <= excess ? [top] : [...sizes.keys()].filter((path) => sizeOf(path) > excess)
    const [directory = top] = enough
      .filter((path) => isWithin(path, top))
      .sort((a, b) => sizeOf(a) - sizeOf(b) || b.length - a.length)
    chosen.add(directory)
    left -= sizeOf(directory) - 1
  }
  if (left > limit) {
    const { path } = masks.findLast((mask) => roots.some((root) => isWithin(mask.path, root))) ?? masks[0] ?? {}
    throw new Error(
      `${masks.length} files are named by the blacklist, such as ${path}, and no sandbox can hide that many: remove them, or start elsewhere`
    )
  }
  const folded = new Map<string, Mask>()
  const single: Array<Mask> = []
  for (const mask of masks) {
    let at = Path.dirname(mask.path)
    while (at !== "/" && !chosen.has(at)) at = Path.dirname(at)
    if (at === "/") single.push(mask)
    else if (!folded.has(at)) folded.set(at, { path: at, kind: "directory", rule: mask.rule, reason: crowded })
  }
  return [...single, ...folded.values()]
}

/** A file with several names, of which one is masked. */
interface Linked {
  readonly mask: Mask
  /** How many names have not been found yet. */
  left: number
}

/** Returns undefined if the path is gone, or lies in a directory that can't be entered (`FileWalk.closedAt`). */
const stat = (path: string): Fs.BigIntStats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(BytePath.toHost(path), { bigint: true }))

const identity = ({ dev, ino }: Fs.BigIntStats): string => `${dev}:${ino}`

/** The most entries of a masked directory that are examined: a larger one is a cache, not a secret. */
const mostEntries = 50_000

/** Synapse's own directories that hold secrets. In the others, caches share files with projects. */
const kept = new Set(["mcp", "sessions"])

/** Finds the files with several names, among the masked files and in the masked directories. */
const linkedOf = async (masks: ReadonlyArray<Mask>): Promise<Map<string, Linked>> => {
  const found = new Map<string, Linked>()
  const add = (mask: Mask, path: string) => {
    const at = stat(path)
    if (at === undefined || !at.isFile() || at.nlink < 2n) return
    const known = found.get(identity(at))
    if (known === undefined) found.set(identity(at), { mask, left: Number(at.nlink) - 1 })
    else known.left--
  }
  for (const mask of masks) {
    if (mask.kind === "file") add(mask, mask.path)
    else {
      let entries = 0
      await FileWalk.visitAll([mask.path], (directory, entry) => {
        if (entry.isFile()) add(mask, `${directory}/${entry.name}`)
        return (
          ++entries < mostEntries && !(mask.rule.source === "own" && directory === mask.path && !kept.has(entry.name))
        )
      })
    }
  }
  return found
}

/**
 * Makes masks for all other names of masked files below the roots. Files are examined only if a masked file has several
 * names, and only until all are found. An unsearchable directory that may hold such a name is masked.
 */
const findHardLinks = async (masks: ReadonlyArray<Mask>, roots: ReadonlyArray<string>): Promise<Array<Mask>> => {
  const linked = await linkedOf(masks)
  let left = 0
  for (const one of linked.values()) left += Math.max(one.left, 0)
  if (left === 0) return []
  const masked = new Set(masks.map((mask) => mask.path))
  const aliases: Array<Mask> = []
  await FileWalk.visitAll(roots, (directory, entry) => {
    if (left === 0) return false
    const path = `${directory === "/" ? "" : directory}/${entry.name}`
    if (masked.has(path)) return false
    if (!entry.isFile()) return true
    const at = stat(path)
    if (at === undefined) {
      const hidden = FileWalk.hiding(path)
      const [one] = linked.values()
      if (hidden !== undefined && one !== undefined) {
        aliases.push({ path: hidden, kind: "directory", rule: one.mask.rule, reason: FileWalk.unsearchable })
      }
    }
    const known = at === undefined || at.nlink < 2n ? undefined : linked.get(identity(at))
    if (known !== undefined) {
      aliases.push({ path, kind: "file", rule: known.mask.rule })
      left--
    }
    return false
  })
  return aliases
}

/** Directories of programs: nothing in them is masked because a link leads to it. */
const programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/nix", "/gnu", "/snap"]

/** Directories that no system works without. What lies deeper in them may be masked. */
const system = ["/etc", "/opt", "/var", "/var/lib", "/home", "/root", "/srv", "/mnt", "/media"]

/** Files directly in `/etc` belong to the system; those of applications lie in directories. */
const isSystemFile = (path: string): boolean => Path.dirname(path) === "/etc"

/**
 * Tests whether masking a link's target would hide the system, the user's home, the session or the place of work from
 * commands. Such a target stays readable; the link is denied by its name before a command runs.
 *
 * @param needed further paths that are never masked because a link leads to them or to a directory around them
 */
export const isHarmful = (target: string, needed: ReadonlyArray<string>): boolean =>
  target === "/" ||
  isSystemFile(target) ||
  programs.some((path) => isWithin(target, path)) ||
  [...system, ...needed, process.execPath].some((path) => isWithin(path, target))

/**
 * Tests whether a link that commands may have made leads to a directory outside of what they may write: one link could
 * hide other projects from every later session. A single file is hidden wherever it lies, such as a secret that
 * projects share.
 */
const isFar = (link: string, { kind, path }: Pick<Mask, "kind" | "path">, roots: ReadonlyArray<string>): boolean =>
  kind === "directory" && roots.some((root) => isWithin(link, root)) && !roots.some((root) => isWithin(path, root))

/** Makes a rule for the target of a dangling link; undefined if the link is not dangling. */
const awaitedLinkTargets = (link: string, rule: Rule): Rule | undefined => {
  try {
    if (Fs.statSync(BytePath.toHost(link), { throwIfNoEntry: false }) !== undefined) return undefined
  } catch {
    // The link leads to itself, or to where nobody may look.
    return undefined
  }
  const path = RealPath.follow(link, 1000).real
  return { pattern: rule.pattern, path, kind: "path", source: rule.source }
}

/** The directories that are searched for masks, and those that are left out. */
export interface Area {
  /** Real paths of what can be written (`WriteRoots`). */
  readonly roots: ReadonlyArray<string>
  /** Paths that are never masked because a link with a blacklisted name leads to them. */
  readonly needed: ReadonlyArray<string>
  /** Needed paths without which no command can run: no directory around them is masked whole (`foldMasks`). */
  readonly vital?: ReadonlyArray<string>
  /** Directories that the sandbox does not see in any case. */
  readonly hidden: ReadonlyArray<string>
  /** Directories that the sandbox has its own of: in them, only what lies in a root is masked. */
  readonly replaced?: ReadonlyArray<string>
}

/** The names that directories at rest lack, by directory, each as long as the directory is the same. */
const absent = GlobalValue.globalValue("synapse/Masks", () => new Map<string, { stamp: string; names: Set<string> }>())

/** The most directories that are remembered. */
const mostAbsent = 1000

/** Makes a test for paths that certainly do not exist, as most that rules name. It looks once at each directory. */
const makeIsNowhere = () => {
  const now = Date.now()
  const isAtRest = FileWalk.makeIsAtRest()
  /** For each directory, the names that it is known to lack; undefined if it does not exist. */
  const seen = new Map<string, Set<string> | undefined>()
  const absentIn = (directory: string): Set<string> => {
    const stats = Attempt.orUndefined(() => Fs.statSync(BytePath.toHost(directory), { throwIfNoEntry: false }))
    if (stats === undefined || !isAtRest(stats, directory, now)) return new Set()
    const stamp = [stats.dev, stats.ino, stats.ctimeMs].join(" ")
    const known = absent.get(directory)
    if (known?.stamp === stamp) return known.names
    const names = new Set<string>()
    if (absent.size >= mostAbsent) absent.clear()
    absent.set(directory, { stamp, names })
    return names
  }
  const isNowhere = (path: string): boolean => {
    const directory = Path.posix.dirname(path)
    if (directory === path) return false
    if (!seen.has(directory)) seen.set(directory, isNowhere(directory) ? undefined : absentIn(directory))
    const names = seen.get(directory)
    const name = Path.posix.basename(path)
    if (names === undefined || names.has(name)) return true
    // A dangling link counts as existing: its target may come without a change of this directory.
    const isMissing = Attempt.orElse(
      () => Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false }) === undefined,
      false
    )
    if (isMissing) names.add(name)
    return isMissing
  }
  return isNowhere
}

const maskOf = (path: string, rule: Rule): Mask | undefined => {
  const real = WriteRoots.realPath(path)
  if (real === undefined || real === "/") return undefined
  if (DefaultSecrets.isHarmless(rule, real)) return undefined
  return Attempt.orUndefined(() => ({
    path: real,
    kind: Fs.statSync(BytePath.toHost(real)).isDirectory() ? "directory" : "file",
    rule
  }))
}

/** Makes the mask of a directory that commands may look into but this process can't search. */
const closedMask = (directory: string, rule: Rule, roots: ReadonlyArray<string>): Array<Mask> => {
  const path = WriteRoots.realPath(directory)
  if (path === undefined || !roots.some((root) => isWithin(path, root))) return []
  return [{ path, kind: "directory", rule, reason: FileWalk.unsearchable }]
}

/**
 * Tests whether a sandbox sees the machine's files at a path. In its own directories, it sees only what it was given.
 */
export const isSeen = (path: string, { replaced = [], roots }: Pick<Area, "replaced" | "roots">): boolean =>
  !replaced.some((one) => path !== one && isWithin(path, one)) || roots.some((root) => isWithin(path, root))

/**
 * Finds what rules without wildcards name, cheaply enough to run before each command. If a directory in the roots hides
 * whether a path exists, the directory is masked.
 */
export const literals = (rules: ReadonlyArray<Rule>, roots: ReadonlyArray<string>): Array<Mask> => {
  const isNowhere = makeIsNowhere()
  return rules.flatMap((rule) => {
    if (rule.kind !== "path" || isNowhere(rule.path)) return []
    const mask = maskOf(rule.path, rule)
    if (mask !== undefined) return [mask]
    const hiding = FileWalk.hiding(rule.path)
    return hiding === undefined ? [] : closedMask(hiding, rule, roots)
  })
}

/** Returns the directories that globs begin with, which are searched wherever they lie. */
const bases = (rules: ReadonlyArray<Rule>): Array<string> =>
  rules.flatMap(({ kind, path, real = path }) => {
    if (kind !== "glob") return []
    const names = real.split("/")
    const base = names.slice(0, names.findIndex(PathGlob.hasWildcard)).join("/")
    return base === "" ? [] : [WriteRoots.realPath(PathGlob.unescape(base)) ?? []].flat()
  })

export interface Found {
  readonly masks: Array<Mask>
  /** Rules for the targets of dangling links with blacklisted names: what appears there must be masked. */
  readonly awaited: ReadonlyArray<Rule>
  /** The masks that files would have if git did not hold their content. */
  readonly held: ReadonlyArray<Mask>
  /** The directories that hold a `HEAD`, as git directories do, or a `.git` that leads to one. */
  readonly heads: ReadonlyArray<string>
  /**
   * Says whether the search may have missed a file that was moved meanwhile. `still`: no directory has changed since
   * the given time. `moving`: a directory was gone when the walk came to it.
   */
  readonly calm: "still" | "changing" | "moving"
}

/** The rule that denies a directory which can't be searched. */
const unsearched = (path: string): Rule => ({ pattern: "can't be searched", path, kind: "path", source: "own" })

const globs = async (policy: Pick<SandboxPolicy, "blacklist">, area: Area, since: number): Promise<Found> => {
  const { blacklist } = policy
  if (!blacklist.some((rule) => rule.kind === "glob"))
    return { masks: [], awaited: [], held: [], heads: [], calm: "still" }
  const rules = PathRule.of(blacklist)
  const isReplaced = (path: string) => area.replaced?.some((one) => isWithin(path, one)) === true
  const roots = WriteRoots.outermost([...area.roots, ...bases(blacklist).filter((base) => !isReplaced(base))])
  // No link masks what surrounds a rule's own path: the home, and other directories that rules reach into.
  const needed = [
    ...area.needed,
    ...blacklist.flatMap(({ kind, path, real = path }) => (kind === "path" ? [real] : []))
  ]
  const awaited: Array<Rule> = []
  const skip = new Set(area.hidden)
  const { changed, closed, heads, isMoving, matches } = await FileWalk.share(
    JSON.stringify([roots, [...skip].filter((path) => roots.some((root) => isWithin(path, root)))]) + rules.text,
    (earlier) => FileWalk.find(roots, { findEntry: rules.findEntry, skip }, earlier)
  )
  const masks = closed.flatMap((directory) => closedMask(directory, unsearched(directory), area.roots))
  const git = GitHeld.of(policy)
  const held: Array<Mask> = []
  for (const { kind, path, rule } of matches) {
    if (kind !== "link") {
      if (DefaultSecrets.isHarmless(rule, path)) continue
      const isHeld = PathRule.isForFiles(rule) && git.has(path)
      ;(isHeld ? held : masks).push({ path, kind, rule })
    } else {
      const mask = maskOf(path, rule)
      if (mask?.kind === "directory" && PathRule.isForFiles(rule)) continue
      if (mask === undefined) awaited.push(...[awaitedLinkTargets(path, rule) ?? []].flat())
      else if (!isHarmful(mask.path, needed) && !isFar(path, mask, area.roots)) masks.push(mask)
    }
  }
  return { masks, awaited, held, heads, calm: isMoving ? "moving" : changed >= since ? "changing" : "still" }
}

const withAliases = (masks: ReadonlyArray<Mask>): Array<Mask> => {
  const mounts = MountTable.read("self")
  // A file has a second path only if its file system is mounted twice.
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

/**
 * Keeps one mask per path, and drops masks inside a masked or hidden directory, unless the path is visible all the
 * same.
 */
const withoutCovered = (
  masks: ReadonlyArray<Mask>,
  hidden: ReadonlyArray<string>,
  visible: ReadonlyArray<Rule> = []
): Array<Mask> => {
  const shown = new Set(visible.map(({ path }) => path))
  const byPath = new Map<string, Mask>()
  for (const mask of masks) {
    if (!byPath.has(mask.path) && !hidden.some((one) => isWithin(mask.path, one))) byPath.set(mask.path, mask)
  }
  const directories = new Set(masks.filter((mask) => mask.kind === "directory").map((mask) => mask.path))
  const isCovered = (path: string): boolean => {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const at = path.slice(0, end)
      if (shown.has(at)) return false
      if (directories.has(at)) return true
    }
    return false
  }
  return [...byPath.values()].filter((mask) => !isCovered(mask.path))
}

/** Adds the text that commands now read in place of a file. */
export const withStandIn = (policy: Pick<SandboxPolicy, "blacklist">, { standIn: _, ...mask }: Mask): Mask => {
  const standIn = mask.kind === "file" ? DefaultSecrets.standInOf(policy, mask.rule, mask.path) : undefined
  return standIn === undefined ? mask : { ...mask, standIn }
}

/**
 * Searches for all masks of a policy: what its rules name, other hard links to the same files, and other mounts of the
 * same file systems. Rejects if the system lacks descriptors or memory.
 *
 * @param since the time, in ms, after which a change of a directory makes the outcome uncertain
 */
export const search = async (
  policy: Pick<SandboxPolicy, "blacklist" | "visible">,
  area: Area,
  since = Number.POSITIVE_INFINITY
): Promise<Found> => {
  const found = await globs(policy, area, since)
  const awaited = found.awaited.filter(({ path }) => area.roots.some((root) => isWithin(path, root)))
  const all = [...literals([...policy.blacklist, ...awaited], area.roots), ...found.masks]
  const fold = (masks: ReadonlyArray<Mask>) => foldMasks(masks, area.roots, area.vital ?? area.needed)
  const named = fold(withoutCovered(all, area.hidden, policy.visible))
  const linked = await findHardLinks(named, area.roots)
  const masks = withoutCovered(withAliases([...named, ...linked]), area.hidden, policy.visible)
  // Rules about sockets are made only for sockets that the sandbox can see.
  const shown = fold(masks).filter(({ path, rule }) => rule.source === "socket" || isSeen(path, area))
  return { ...found, awaited, masks: shown.map((mask) => withStandIn(policy, mask)) }
}

export const find = async (policy: Pick<SandboxPolicy, "blacklist" | "visible">, area: Area): Promise<Array<Mask>> =>
  (await search(policy, area)).masks

/**
 * Returns the directories that must not be renamed, so that a rule without wildcards keeps its meaning: all between its
 * path and the root that makes them writable. The outermost come first.
 */
export const pins = (
  policy: Pick<SandboxPolicy, "blacklist">,
  { readonly, roots }: Pick<WriteRoots.WriteRoots, "roots" | "readonly">
): Array<string> => {
  const literal = policy.blacklist.flatMap((rule) => (rule.kind === "path" ? [realOf(rule)] : []))
  const found = new Set(
    [...literal, ...readonly].flatMap((path) => {
      const root = roots.find((one) => isWithin(path, one))
      return root === undefined ? [] : WriteRoots.between(root, path)
    })
  )
  return [...found].filter((path) => WriteRoots.realPath(path) === path).sort((a, b) => a.length - b.length)
}
