/** Resolves a policy into the parts of a sandbox: real paths, as the file system has them now. */
import * as Path from "node:path"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as HostPath from "../../../policy/HostPath.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import type { Indexes } from "./IndexFile.js"
import * as Masks from "./Masks.js"
import * as MountTable from "./MountTable.js"
import * as SystemMounts from "./SystemMounts.js"
import * as WriteRoots from "./WriteRoots.js"

/** A masked directory, and the paths in it that a person allowed. */
interface Opening {
  readonly mask: Mask
  readonly granted: ReadonlyArray<string>
}

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
  /** Paths that a bind made later must not uncover: they are read-only, hidden, or named by a rule. */
  readonly held: ReadonlyArray<string>
  /** The directories for temporary files that are empty and private in the sandbox. */
  readonly temporary: ReadonlyArray<string>
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

const temporaryOf = (roots: ReadonlyArray<string>): ReadonlyArray<string> =>
  WriteRoots.outermost(["/tmp", "/var/tmp"].flatMap((path) => WriteRoots.realPath(path) ?? [])).filter(
    (path) => !roots.some((root) => isWithin(path, root))
  )

/**
 * Resolves the paths of a policy, and walks the writable directories for what its globs name. `needed` are further
 * paths that no link may cause to be masked, as the shell's program; `places` are those of all sessions of the user;
 * `toolCache` is the directory for the caches of tools, which is left out where the blacklist names it; `shownIn` are
 * directories that are read also in a directory for temporary files that the sandbox has of its own.
 */
export const make = async (
  policy: SandboxPolicy,
  session: string,
  needed: ReadonlyArray<string> = [],
  indexesFor: (roots: ReadonlyArray<string>) => Indexes | undefined = () => undefined,
  places: ReadonlyArray<string> = [],
  toolCache?: string,
  shownIn: ReadonlyArray<string> = []
): Promise<Layout> => {
  const isReadOnly = policy.shown !== undefined
  const mounts = MountTable.read("self")
  const given = WriteRoots.make(isReadOnly ? { ...policy, whitelist: policy.shown } : policy)
  const flaws = given.roots.flatMap((root) => SystemMounts.flaw(mounts, root) ?? [])
  // Nothing starts with a flaw, and the whole system may lie there: it is not searched.
  const writable = flaws.length === 0 ? given : { ...given, roots: [] }
  const sessions = Path.dirname(session)
  const unsearched = SystemMounts.unsearched(mounts, writable.roots)
  const directory = policy.whitelist.find(({ path }) => path === policy.cwd)?.real ?? policy.cwd
  const area = {
    roots: writable.roots,
    needed: [...writable.roots, policy.cwd, session, ...needed],
    vital: [directory, policy.cwd, session, ...needed],
    hidden: ["/dev", "/proc", sessions, ...places, ...unsearched]
  }
  const all = await Masks.find(policy, area, indexesFor(writable.roots))
  const granted = (policy.granted ?? []).flatMap(({ path }) => (WriteRoots.realPath(path) === path ? [path] : []))
  const masks: Array<Mask> = []
  const openings: Array<Opening> = []
  /** The paths that are shown though a rule hides them: a grant to read gives no right to write. */
  const shown: Array<string> = []
  for (const mask of all) {
    if (granted.some((path) => isWithin(mask.path, path))) {
      shown.push(mask.path)
      continue
    }
    const inside = granted.filter((path) => isWithin(path, mask.path))
    // The shell needs its session, wherever that lies; nothing else of the directory is seen.
    if (inside.length > 0 || isWithin(session, mask.path))
      openings.push({ mask, granted: WriteRoots.outermost(inside) })
    else masks.push(mask)
  }
  const temporary = temporaryOf(writable.roots)
  const isMasked = (path: string) => all.some((mask) => !granted.includes(path) && isWithin(path, mask.path))
  const roots = writable.roots.filter((path) => !isMasked(path))
  const isOwn = (path: string) => [...ownToSandbox, ...temporary].some((one) => isWithin(path, one))
  const others = WriteRoots.outermost(places).filter(
    (path) => !isWithin(path, sessions) && !isWithin(sessions, path) && !isOwn(path) && !isMasked(path)
  )
  // Another session may take its settings from the directory around a place, and a command must not write these.
  const around = others.concat(sessions).flatMap((place) => PrivateDirectory.around(place) ?? [])
  const kept = around.filter((path) => !isMasked(path) && roots.some((root) => root !== path && isWithin(path, root)))
  /** Tests whether a bind would uncover what is hidden, or cover what is written. */
  const isTaken = (path: string) =>
    isMasked(path) ||
    [sessions, ...places].some((place) => isWithin(path, place) || isWithin(place, path)) ||
    roots.some((root) => isWithin(root, path))
  const readonly = WriteRoots.outermost([
    ...shownIn
      .flatMap((path) => WriteRoots.realPath(path) ?? [])
      .filter((path) => temporary.some((one) => path !== one && isWithin(path, one)) && !isTaken(path)),
    ...writable.readonly.filter((path) => !isMasked(path)),
    ...kept,
    ...roots.flatMap((root) => SystemMounts.below(mounts, root)).filter((path) => !isMasked(path)),
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
    ...(toolCache === undefined || PathRule.make(policy.blacklist).find(toolCache) !== undefined
      ? undefined
      : { toolCache }),
    // Directories that hold the sessions are not pinned: the host opens files in them by name.
    pins: Masks.pins(policy, { roots, readonly: [...readonly, session, ...others] }).filter(
      (path) => !isMasked(path) && ![sessions, ...others].some((place) => isWithin(path, place))
    ),
    held: [
      sessions,
      ...others,
      ...ownToSandbox,
      ...temporary,
      ...policy.readonly.map(placeOf),
      ...policy.blacklist.filter((rule) => rule.kind === "path").map(placeOf),
      ...openings.map(({ mask }) => mask.path),
      ...(toolCache === undefined ? [] : [toolCache])
    ],
    temporary,
    sessions,
    others,
    unsearched,
    session,
    vital: area.vital
  }
}
