/** Resolves a policy into the parts of a sandbox: real paths, as the file system has them now. */
import * as Path from "node:path"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as HostPath from "../../../policy/HostPath.js"
import * as PathRule from "../../../policy/PathRule.js"
import * as PrivateTemporary from "../../../policy/PrivateTemporary.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import * as FileWalk from "./FileWalk.js"
import * as Masks from "./Masks.js"
import * as MountTable from "./MountTable.js"
import * as WriteRoots from "./WriteRoots.js"

/** A masked directory, and the paths in it that a person allowed. */
interface Opening {
  readonly mask: Mask
  readonly granted: ReadonlyArray<string>
  /** Those of the granted paths that are written as well. */
  readonly opened: ReadonlyArray<string>
}

/** The paths among what is read of Synapse's own files that are there, and that no place of sessions has to do with. */
const visibleIn = ({ visible = [] }: SandboxPolicy, places: ReadonlyArray<string>): ReadonlyArray<string> =>
  visible
    .map(({ path }) => path)
    .filter((path) => HostPath.isDirectory(path) && !places.some((place) => isWithin(path, place)))

/** The parts of a sandbox, as real paths. */
export interface Layout extends WriteRoots.WriteRoots {
  readonly cwd: string
  /** The identity (`HostPath.identityOf`) of that directory, where it can be written: the shell has to be in this one. */
  readonly identity?: string | undefined
  /** The masks; masked directories that have an opening are not among them. */
  readonly masks: ReadonlyArray<Mask>
  readonly openings: ReadonlyArray<Opening>
  /** Directories that can't be renamed, the outermost first. */
  readonly pins: ReadonlyArray<string>
  /** The directory for the caches of tools, which can be written wherever it lies. */
  readonly toolCache?: string
  /** The reason why one of the directories that were to be written must not be; the layout has none of them then. */
  readonly flaw?: string
  /** True where the roots are only read. */
  readonly isReadOnly: boolean
  /** Returns the paths that a bind made later must not uncover: they are read-only, hidden, or named by a rule. */
  readonly held: () => ReadonlyArray<string>
  /** The directories for temporary files that are private in the sandbox, the outermost first. */
  readonly temporary: ReadonlyArray<string>
  /** The directory outside that is seen in the place of some of these (`at`), and as itself; the others are empty at first. */
  readonly kept?: { readonly path: string; readonly at: ReadonlyArray<string> }
  /** The directory of all sessions, which is hidden. */
  readonly sessions: string
  /** Further places for sessions, which are hidden. */
  readonly others: ReadonlyArray<string>
  /** Places below the roots that are not searched (`SystemMounts.unsearched`). */
  readonly unsearched: ReadonlyArray<string>
  /** The directory of this session, which is visible and read-only. */
  readonly session: string
  /** The paths without which no command can run: no directory around them is masked whole for what it holds. */
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

/** A path below a private directory for temporary files that something is mounted on. */
export interface MountPoint {
  /** The place of the private directory, and the path below it. */
  readonly place: string
  readonly inside: string
  readonly kind: "file" | "directory"
  /** True where it is there for one session only. */
  readonly isPassing: boolean
}

/** Returns the mount points that the directory in the place of `/tmp` must have before a sandbox is built. */
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
    return [{ place, inside: path.slice(place.length + 1), kind, isPassing: shown.includes(path) }]
  })
}

/** The options of `make`, besides the policy. */
export interface LayoutOptions {
  /** The private directory of the session. */
  readonly session: string
  /** Further paths that no link may cause to be masked, as the shell's program. */
  readonly needed?: ReadonlyArray<string>
  /** The places of all sessions of the user, and other directories that no sandbox shows. */
  readonly places?: ReadonlyArray<string>
  /** The directory for the caches of tools, which is left out where the blacklist names it. */
  readonly toolCache?: string | undefined
  /** The directory outside that is seen in the place of `/tmp`. */
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
  // Nothing starts with a flaw, and the whole system may lie there: it is not searched.
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
  /** The paths that are shown though a rule hides them: a grant to read gives no right to write. */
  const shown: Array<string> = []
  const isMasked = (path: string) => all.some((mask) => !granted.includes(path) && isWithin(path, mask.path))
  const roots = writable.roots.filter((path) => !isMasked(path))
  for (const mask of all) {
    if (granted.some((path) => isWithin(mask.path, path))) {
      if (!opened.some((path) => isWithin(mask.path, path))) shown.push(mask.path)
      continue
    }
    const inside = [...granted, ...(mask.rule.source === "own" ? visible : [])].filter((path) =>
      isWithin(path, mask.path)
    )
    // The shell needs its session, wherever that lies, and commands need their caches among Synapse's own files.
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
  // Another session may take its settings from the directory around a place, and a command must not write these.
  const around = others.concat(sessions).flatMap((place) => PrivateDirectory.around(place) ?? [])
  const settings = around.filter(
    (path) => !isMasked(path) && roots.some((root) => root !== path && isWithin(path, root))
  )
  /** Tests whether a bind would uncover what is hidden, or cover what is written. */
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
    // Directories that hold the sessions are not pinned: the host opens files in them by name.
    pins: Masks.pins(policy, { roots, readonly: [...readonly, session, ...others] }).filter(
      (path) => !isMasked(path) && ![sessions, ...others].some((place) => isWithin(path, place))
    ),
    // Few sandboxes are changed while they run.
    held: () => [
      sessions,
      ...others,
      ...ownToSandbox,
      ...temporary,
      ...[...policy.readonly, ...policy.blacklist]
        .filter((rule) => rule.kind === "path")
        .flatMap((rule) => [placeOf(rule), rule.real ?? rule.path]),
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
 * Returns why commands can't work in the sandbox's directory, and what helps; undefined where they can. It, or
 * another place that commands may write, has been replaced since the policy was built, is in a place of sessions, which
 * every sandbox hides, or below a directory that can't be searched.
 */
export const unworkable = (
  policy: SandboxPolicy,
  { cwd, flaw, masks, moved, others, roots, sessions }: Layout
): string | undefined => {
  const [gone] = moved
  // Left out, it would be read as all else is, without its masks.
  if (gone !== undefined) return replaced(gone.path)
  const place = [sessions, ...others].find((place) => [cwd, ...roots].some((path) => isWithin(path, place)))
  if (place !== undefined) return `${place} is for sessions alone, and can't be worked in`
  if (flaw !== undefined) return `${flaw}; name, or start in, a directory in it`
  const closed = masks.find(({ path, reason }) => reason !== undefined && isWithin(policy.cwd, path))
  if (closed === undefined) return undefined
  const { path, reason } = closed
  const isShared = policy.whitelist.some((rule) => rule.source === "tmp" && isWithin(path, rule.real ?? rule.path))
  const remedy = FileWalk.isOwn(path)
    ? "give its owner the right to (chmod u+rwx)"
    : isShared
      ? "it is another user's: name a directory of your own in TMPDIR"
      : "it is another user's, who could let you (chmod a+rx)"
  return `${path}: ${reason}; ${remedy}, or start elsewhere`
}

/**
 * Returns the first entry of the whitelist that is there by now, and that a sandbox was built without; undefined where there
 * is none. What the blacklist names in it is not masked.
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
