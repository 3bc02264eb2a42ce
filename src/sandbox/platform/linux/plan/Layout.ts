/**
 * Resolves a policy into the parts of a sandbox, as current real paths.
 */
import * as Path from "node:path"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as HostPath from "../../../policy/HostPath.js"
import * as PathRule from "../../../policy/PathRule.js"
import * as PrivateTemporary from "../../../policy/PrivateTemporary.js"
import { type Rule, realOf, type SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as FileWalk from "./FileWalk.js"
import * as Masks from "./Masks.js"
import * as MountTable from "./MountTable.js"
import * as WriteRoots from "./WriteRoots.js"

/** A masked directory, and the paths in it that a person allowed. */
interface Opening {
  readonly mask: Mask
  readonly granted: ReadonlyArray<string>
  /** The granted paths that are also writable. */
  readonly opened: ReadonlyArray<string>
}

/** Returns the readable paths among Synapse's own files that exist and are unrelated to the places of sessions. */
const visibleIn = ({ visible = [] }: SandboxPolicy, places: ReadonlyArray<string>): ReadonlyArray<string> =>
  visible
    .map(({ path }) => path)
    .filter((path) => HostPath.isDirectory(path) && !places.some((place) => isWithin(path, place)))

/** The parts of a sandbox, as real paths. */
export interface Layout extends WriteRoots.WriteRoots {
  readonly cwd: string
  /** The identity (`HostPath.identityOf`) of `cwd`, if writable. The shell must start in exactly this directory. */
  readonly identity?: string | undefined
  /** The masks, without masked directories that have an opening. */
  readonly masks: ReadonlyArray<Mask>
  readonly openings: ReadonlyArray<Opening>
  /** Directories that can't be renamed, the outermost first. */
  readonly pins: ReadonlyArray<string>
  /** The directory for tools' caches, which is writable wherever it lies. */
  readonly toolCache?: string
  /** Why a directory must not be writable although the policy says so. The layout then has no roots. */
  readonly flaw?: string
  /** True if the roots are read-only. */
  readonly isReadOnly: boolean
  /** Returns the paths that a later bind must not uncover: they are read-only, hidden, or named by a rule. */
  readonly held: () => ReadonlyArray<string>
  /** The directories for temporary files that are private in the sandbox, the outermost first. */
  readonly temporary: ReadonlyArray<string>
  /**
   * The outside directory that replaces some of these (`at`), and is also visible as itself. The others start empty.
   */
  readonly kept?: { readonly path: string; readonly at: ReadonlyArray<string> }
  /** The directory of all sessions, which is hidden. */
  readonly sessions: string
  /** Other places for sessions, which are hidden. */
  readonly others: ReadonlyArray<string>
  /** Places below the roots that are not searched (`MountTable.unsearched`). */
  readonly unsearched: ReadonlyArray<string>
  /** The directory of this session, which is visible and read-only. */
  readonly session: string
  /** Paths without which no command can run. No directory around them is masked whole because of its contents. */
  readonly vital: ReadonlyArray<string>
}

const { isWithin } = HostPath

/** Directories that every sandbox has its own of. */
const ownToSandbox = ["/dev", "/proc", "/run"]

const placeOf = ({ path, real }: Rule): string => WriteRoots.realPath(path) ?? real ?? path

const isUsers = ({ source }: Rule): boolean => source !== "own"

const emptyPlaces = ["/tmp", "/var/tmp"]

const temporaryOf = (kept: ReadonlyArray<string>, roots: ReadonlyArray<string>): ReadonlyArray<string> => {
  const empty = WriteRoots.outermost(emptyPlaces.flatMap((path) => WriteRoots.realPath(path) ?? [])).filter(
    (path) => ![...kept, ...roots].some((root) => isWithin(path, root))
  )
  return [...kept, ...empty].sort((a, b) => a.length - b.length)
}

/** A mount point below a private directory for temporary files. */
export interface MountPoint {
  /** The place of the private directory, and the path below it. */
  readonly place: string
  readonly inside: string
  readonly kind: "file" | "directory"
}

/** Returns the mount points that the directory replacing `/tmp` must have before a sandbox is built. */
export const mountPoints = ({
  kept,
  others,
  readonly,
  roots,
  sessions,
  toolCache
}: Layout): ReadonlyArray<MountPoint> => {
  if (kept === undefined) return []
  const isInRoot = (path: string) => roots.some((root) => isWithin(path, root))
  const shown = readonly.filter((path) => !isInRoot(path))
  const rest = [...kept.at, kept.path, sessions, ...others, toolCache].filter((path) => path !== undefined)
  return [...new Set([...roots, ...shown, ...rest.filter((path) => !isInRoot(path))])].flatMap((path) => {
    const place = kept.at.findLast((one) => one !== path && isWithin(path, one))
    if (place === undefined) return []
    const kind = roots.concat(shown).includes(path) && !HostPath.isDirectory(path) ? "file" : "directory"
    return [{ place, inside: path.slice(place.length + 1), kind }]
  })
}

export interface LayoutOptions {
  /** The private directory of the session. */
  readonly session: string
  /** Further paths that no link may cause to be masked, such as the shell's program. */
  readonly needed?: ReadonlyArray<string>
  /** The places of all sessions of the user, and other directories that no sandbox shows. */
  readonly places?: ReadonlyArray<string>
  /** The directory for tools' caches, which is left out if the blacklist names it. */
  readonly toolCache?: string | undefined
  /** The outside directory that replaces `/tmp`. */
  readonly kept?: string | undefined
}

/** Resolves the paths of a policy, and walks the writable directories for what its globs name. */
export const make = async (
  policy: SandboxPolicy,
  { kept, needed = [], places = [], session, toolCache }: LayoutOptions
): Promise<Layout> => {
  const isReadOnly = policy.shown !== undefined
  const mounts = MountTable.read("self")
  const own = PrivateTemporary.make(policy)
  const given = WriteRoots.make(
    { ...policy, whitelist: policy.shown ?? own.whitelist },
    policy.shown ?? policy.whitelist
  )
  const flaws = given.roots.flatMap((root) => MountTable.flaw(mounts, root) ?? [])
  // With a flaw, no sandbox starts, and the root may be the whole system, so it is not searched.
  const writable = flaws.length === 0 ? given : { ...given, roots: [] }
  const sessions = Path.dirname(session)
  const unsearched = MountTable.unsearched(mounts, writable.roots)
  const directory = policy.whitelist.find(({ path }) => path === policy.cwd)?.real ?? policy.cwd
  const area = {
    roots: writable.roots,
    needed: [...writable.roots, policy.cwd, session, ...needed],
    vital: [directory, policy.cwd, session, ...needed],
    hidden: ["/dev", "/proc", sessions, ...places, ...unsearched],
    replaced: own.places
  }
  const all = await Masks.find(policy, area)
  const isStill = ({ path }: Rule) => WriteRoots.realPath(path) === path
  const granted = (policy.granted ?? []).filter(isStill).map(({ path }) => path)
  const opened = (policy.opened ?? []).filter(isStill).map(({ path }) => path)
  const masks: Array<Mask> = []
  const openings: Array<Opening> = []
  const visible = visibleIn(policy, [sessions, ...places])
  /** Paths that are shown although a rule hides them: a grant to read is no grant to write. */
  const shown: Array<string> = []
  const isMasked = (path: string) => all.some((mask) => !granted.includes(path) && isWithin(path, mask.path))
  const roots = writable.roots.filter((path) => !isMasked(path))
  for (const mask of all) {
    // A directory that may be read does not give its sockets, where programs outside listen.
    const isLifted = (path: string) => (mask.rule.source === "socket" ? path === mask.path : isWithin(mask.path, path))
    if (granted.some(isLifted)) {
      if (!opened.some((path) => isWithin(mask.path, path))) shown.push(mask.path)
      continue
    }
    const inside = [...granted, ...(mask.rule.source === "own" ? visible : [])].filter((path) =>
      isWithin(path, mask.path)
    )
    // The shell needs its session wherever that lies, and commands need their caches among Synapse's own files.
    const isHome = mask.rule.source === "own" && mask.reason === undefined && mask.kind === "directory"
    if (inside.length > 0 || isHome || isWithin(session, mask.path))
      openings.push({
        mask,
        granted: WriteRoots.outermost(inside),
        opened: opened.filter((path) => inside.includes(path))
      })
    else masks.push(mask)
  }
  const at = own.places.filter((path) => WriteRoots.realPath(path) === path)
  const temporary = temporaryOf(at, writable.roots).filter((path) => !isMasked(path))
  const isOwn = (path: string) => [...ownToSandbox, ...temporary].some((one) => isWithin(path, one))
  const others = WriteRoots.outermost(places).filter(
    (path) => !isWithin(path, sessions) && !isWithin(sessions, path) && !isOwn(path) && !isMasked(path)
  )
  // Another session may read its settings from the directory around a place, so commands must not write these.
  const around = others.concat(sessions).flatMap((place) => PrivateDirectory.around(place) ?? [])
  const settings = around.filter(
    (path) => !isMasked(path) && roots.some((root) => root !== path && isWithin(path, root))
  )
  /** Tests whether a bind would uncover something hidden, or cover something writable. */
  const isTaken = (path: string) =>
    isMasked(path) ||
    [sessions, ...places].some((place) => isWithin(path, place) || isWithin(place, path)) ||
    roots.some((root) => isWithin(root, path))
  const readonly = WriteRoots.outermost([
    ...[...visible, ...granted]
      .flatMap((path) => WriteRoots.realPath(path) ?? [])
      .filter((path) => ["/run", ...temporary].some((one) => path !== one && isWithin(path, one)) && !isTaken(path)),
    ...writable.readonly.filter((path) => !isMasked(path)),
    ...settings,
    ...roots.flatMap((root) => MountTable.systemMountsBelow(mounts, root)).filter((path) => !isMasked(path)),
    ...shown.filter((path) => roots.some((root) => isWithin(path, root)))
  ])
  return {
    cwd: policy.cwd,
    ...(flaws.length === 0 ? undefined : { flaw: flaws[0] as string }),
    identity: roots.some((root) => isWithin(directory, root)) ? (HostPath.identityOf(directory) ?? "moved") : undefined,
    roots,
    readonly,
    refused: writable.refused,
    moved: writable.moved,
    masks,
    openings,
    isReadOnly,
    ...(toolCache === undefined || PathRule.make(policy.blacklist.filter(isUsers)).find(toolCache) !== undefined
      ? undefined
      : { toolCache }),
    // Directories that hold the sessions are not pinned, because the host opens files in them by name.
    pins: Masks.pins(policy, { roots, readonly: [...readonly, session, ...others] }).filter(
      (path) => !isMasked(path) && ![sessions, ...others].some((place) => isWithin(path, place))
    ),
    // A function, because few sandboxes are changed while they run.
    held: () => [
      sessions,
      ...others,
      ...ownToSandbox,
      ...temporary,
      ...[...policy.readonly, ...policy.blacklist]
        .filter((rule) => rule.kind === "path")
        .flatMap((rule) => [placeOf(rule), realOf(rule)]),
      ...openings.map(({ mask }) => mask.path),
      ...[toolCache, kept].filter((path) => path !== undefined)
    ],
    temporary,
    ...(kept === undefined ? undefined : { kept: { path: kept, at: at.filter((path) => !isMasked(path)) } }),
    sessions,
    others,
    unsearched,
    session,
    vital: area.vital
  }
}

/** Says that a place is not what it was when the policy was built. */
export const replaced = (path: string): string =>
  `while it was built, ${path} was replaced, or a link led there; try again when it rests`

/**
 * Returns why commands can't work in the sandbox's directory, and what helps; undefined if they can. The directory or
 * another writable place may have been replaced since the policy was built. Or it lies in a place of sessions, which
 * every sandbox hides, or below an unsearchable directory.
 */
export const unworkable = (
  policy: SandboxPolicy,
  { cwd, flaw, masks, moved, others, roots, sessions }: Layout
): string | undefined => {
  const [gone] = moved
  // Left out, it would be readable like everything else, without its masks.
  if (gone !== undefined) return replaced(gone.path)
  const place = [sessions, ...others].find((place) => [cwd, ...roots].some((path) => isWithin(path, place)))
  if (place !== undefined) return `${place} is for sessions alone, and can't be worked in`
  if (flaw !== undefined) return `${flaw}; name, or start in, a directory in it`
  const closed = masks.find(({ path, reason }) => reason !== undefined && isWithin(policy.cwd, path))
  if (closed === undefined) return undefined
  const { path, reason } = closed
  const isShared = policy.whitelist.some((rule) => rule.source === "tmp" && isWithin(path, realOf(rule)))
  const remedy = FileWalk.isOwn(path)
    ? "give its owner the right to (chmod u+rwx)"
    : isShared
      ? "it is another user's: name a directory of your own in TMPDIR"
      : "it is another user's, who could let you (chmod a+rx)"
  return `${path}: ${reason}; ${remedy}, or start elsewhere`
}

/**
 * Returns the first whitelist entry that exists now but did not when the sandbox was built, if any. Blacklisted paths
 * in it are not masked.
 */
export const missed = (
  policy: Pick<SandboxPolicy, "shown" | "temporary" | "whitelist">,
  { masks, openings, refused, roots }: Layout
): string | undefined => {
  const held = [...roots, ...masks.map(({ path }) => path), ...openings.map(({ mask }) => mask.path)]
  return (policy.shown ?? PrivateTemporary.make(policy).whitelist).find((rule) => {
    const real = refused.includes(rule) ? undefined : WriteRoots.realPath(rule.path)
    return real !== undefined && !held.some((place) => isWithin(real, place))
  })?.path
}
