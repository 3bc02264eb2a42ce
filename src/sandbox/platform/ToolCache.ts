/**
 * The directory for tools' caches, whose usual places commands may not write. It lies among Synapse's own files, where
 * no command can replace it by a link. Each working directory has its own: what a session writes there reaches no other
 * project's session, and no outside program reads it.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as Directories from "../../files/Directories.js"
import * as HostPath from "../policy/HostPath.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as EntryBelow from "./EntryBelow.js"

const uid = (): number => process.getuid?.() ?? 0

/** Creates a directory that belongs to this user. Throws if something else is there. */
export const own = (path: string, rights = 0o700): void => {
  Directories.makeOne(path)
  const at = Fs.lstatSync(path)
  if (!at.isDirectory() || at.uid !== uid()) throw new Error(`${path} is no directory of yours`)
  // Commands may have changed the mode of what they own.
  if ((at.mode & 0o7777) !== rights) Fs.chmodSync(path, rights)
}

/**
 * Creates a directory that only this user can enter, among Synapse's own files. Throws if others may write there, or if
 * the user's home directory is missing, because programs and tests rely on its absence.
 */
export const ownParent = (path: string): void => {
  const home = Path.dirname(path)
  Directories.makeOne(home)
  const { mode, uid: owner } = Fs.statSync(home)
  if ((owner !== uid() && owner !== 0) || (mode & 0o002) !== 0) throw new Error(`others may write ${home}`)
  own(path)
}

/** Creates the directory if needed, and returns its real path. Throws if it can't be this user's alone. */
export const open = ({ path }: Rule): string => {
  const all = Path.dirname(path)
  ownParent(all)
  own(path)
  return Fs.realpathSync.native(path)
}

/**
 * Returns the parent of all cache directories, and why there can be none, as far as that is visible without an attempt.
 */
export const examine = ({ path }: Rule): { readonly directory: string; readonly obstacle?: string } => {
  const directory = Path.dirname(path)
  try {
    const at = Fs.lstatSync(directory, { throwIfNoEntry: false })
    if (at === undefined || (at.isDirectory() && at.uid === uid())) return { directory }
  } catch {
    // It can't be reached.
  }
  return { directory, obstacle: `${directory} is no directory of yours` }
}

/** Opens a policy's directory. Undefined if it has none or can have none; commands then work without it. */
export const find = ({ toolCache }: Pick<SandboxPolicy, "toolCache">): string | undefined =>
  Attempt.orUndefined(() => (toolCache === undefined ? undefined : open(toolCache)))

/** A variable that names a cache's place, the name of the cache, and its usual place in the home. */
type Place = readonly [variable: string, name: string, usual: string]

/** Caches that can be replaced without loss. */
const always: ReadonlyArray<Place> = [
  ["npm_config_cache", "npm", ".npm"],
  // Since pnpm 11.
  ["pnpm_config_store_dir", "pnpm/store", ".local/share/pnpm/store"],
  ["PIP_CACHE_DIR", "pip", ".cache/pip"],
  ["UV_CACHE_DIR", "uv", ".cache/uv"],
  ["GOCACHE", "go-build", ".cache/go-build"],
  ["CCACHE_DIR", "ccache", ".cache/ccache"]
]

/**
 * Places that also hold what a tool needs and could not get again without a network. If the user has one, it is used.
 */
const whereMissing: ReadonlyArray<Place> = [
  // The store of pnpm 10, and the versions of pnpm that were fetched.
  ["PNPM_HOME", "pnpm", ".local/share/pnpm"],
  ["CARGO_HOME", "cargo", ".cargo"],
  ["GOMODCACHE", "go-mod", "go/pkg/mod"],
  ["DENO_DIR", "deno", ".cache/deno"],
  ["GRADLE_USER_HOME", "gradle", ".gradle"],
  ["NUGET_PACKAGES", "nuget", ".nuget/packages"]
]

/** Variables that also move a place. */
const others: Readonly<Record<string, string>> = { GOMODCACHE: "GOPATH" }

/** The cache of all other tools. The user's entries are readable, and tools that have none get their own. */
const shared: Place = ["XDG_CACHE_HOME", "xdg", ".cache"]

/** How many entries of the user's cache are shared. */
const mostShared = 1000

const entriesOf = (path: string): ReadonlyArray<string> => Attempt.orElse(() => Fs.readdirSync(path), [])

/** Links to each non-empty entry of the user's cache, unless commands have an entry of that name. */
const share = (directory: string, users: string): void => {
  const theirs = new Set(entriesOf(users).slice(0, mostShared))
  const own = entriesOf(directory)
  const isLost = (name: string) => !Fs.existsSync(Path.join(directory, name))
  for (const name of own) if (!isLost(name)) theirs.delete(name)
  for (const name of new Set([...own.filter(isLost), ...theirs])) {
    const path = Path.join(users, name)
    const isEmpty = HostPath.isDirectory(path) && entriesOf(path).length === 0
    const link = theirs.has(name) && !isEmpty ? path : undefined
    EntryBelow.link(Path.dirname(directory), `${Path.basename(directory)}/${name}`, link)
  }
}

const hasApt = (): boolean => Fs.existsSync("/usr/bin/apt-get")

/** Without a network, apt would retry three times, for seconds each. */
const keepApt = (path: string): boolean => {
  try {
    Fs.writeFileSync(path, 'Acquire::Retries "0";\n', { flag: "wx" })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST"
  }
  return true
}

/**
 * Returns the variables that lead tools to the directory, if their usual place is in effect and not writable.
 *
 * @param environment the variables that the commands have without these
 */
export const variables = (
  directory: string,
  environment: Readonly<Record<string, string>>,
  isWritable: (path: string) => boolean
): Readonly<Record<string, string>> => {
  const home = environment["HOME"] ?? "/"
  const isFree = ([variable, , usual]: Place) => {
    const place = Path.join(home, usual)
    const { [variable]: set = place, [others[variable] ?? ""]: other } = environment
    // npm's child processes find its place in a variable, whoever has set one.
    return set === place && other === undefined && !isWritable(place)
  }
  const users = Path.join(home, shared[2])
  const isShared = isFree(shared) && (process.platform === "linux" || !Fs.existsSync(users))
  if (isShared) share(Path.join(directory, shared[1]), users)
  const free = [
    ...always.filter(isFree),
    ...(isShared ? [shared] : []),
    ...whereMissing.filter((place) => isFree(place) && !Fs.existsSync(Path.join(home, place[2])))
  ]
  const apt = Path.join(directory, "apt.conf")
  if (environment["APT_CONFIG"] === undefined && hasApt() && keepApt(apt)) free.push(["APT_CONFIG", "apt.conf", ""])
  return Object.fromEntries(free.map(([variable, name]) => [variable, Path.join(directory, name)]))
}
