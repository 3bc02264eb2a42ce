/**
 * The directory that commands have for the caches of tools, whose usual places they may not write. It lies among Synapse's
 * own files, where no command can put a link in its place, and each working directory has one of its own: what a session
 * writes there reaches no session of another project, and no program outside reads it.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as Directories from "../../files/Directories.js"
import * as HostPath from "../policy/HostPath.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as EntryBelow from "./EntryBelow.js"

const uid = (): number => process.getuid?.() ?? 0

/** Makes a directory of this user's; throws where something else is there. */
export const own = (path: string, rights = 0o700): void => {
  Directories.makeOne(path)
  const at = Fs.lstatSync(path)
  if (!at.isDirectory() || at.uid !== uid()) throw new Error(`${path} is no directory of yours`)
  // Commands may have changed the rights of what they own.
  if ((at.mode & 0o7777) !== rights) Fs.chmodSync(path, rights)
}

/**
 * Makes a directory that only this user can enter, in the directory of Synapse's own files; throws where others may write
 * that one, and where the user's home directory is missing: programs and tests count on its absence.
 */
export const ownParent = (path: string): void => {
  const home = Path.dirname(path)
  Directories.makeOne(home)
  const { mode, uid: owner } = Fs.statSync(home)
  if ((owner !== uid() && owner !== 0) || (mode & 0o002) !== 0) throw new Error(`others may write ${home}`)
  own(path)
}

/**
 * Makes the directory where it is missing, and returns its real path; throws where there can be none that is this user's
 * alone.
 */
export const open = ({ path }: Rule): string => {
  const all = Path.dirname(path)
  ownParent(all)
  own(path)
  return Fs.realpathSync.native(path)
}

/**
 * Returns the directory of all of them, with the reason why there can be none where that can be seen without an attempt.
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

/** Opens the directory of a policy; undefined where it has none, or there can be none: commands do without it. */
export const find = ({ toolCache }: Pick<SandboxPolicy, "toolCache">): string | undefined =>
  Attempt.orUndefined(() => (toolCache === undefined ? undefined : open(toolCache)))

/** A variable that names the place of a cache, the name of that cache, and the place in the home where it usually lies. */
type Place = readonly [variable: string, name: string, usual: string]

/** Caches that a tool does without: nothing is lost where it has another one. */
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
 * Places that hold what a tool needs as well, which nothing can bring anew without a network: where the user has one, it is
 * read.
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

/** Variables that move a place as well. */
const others: Readonly<Record<string, string>> = { GOMODCACHE: "GOPATH" }

/** The cache of all other tools. What the user has there is read, and each tool that is new to the user may write. */
const shared: Place = ["XDG_CACHE_HOME", "xdg", ".cache"]

/** The most entries of the user's cache that are shared. */
const mostShared = 1000

const entriesOf = (path: string): ReadonlyArray<string> => Attempt.orElse(() => Fs.readdirSync(path), [])

/** Leads to what the user's cache has: a link for each entry that is not empty, except where commands have one of their own. */
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

/** Keeps apt from trying three more times, for seconds each, where there is no network. */
const keepApt = (path: string): boolean => {
  try {
    Fs.writeFileSync(path, 'Acquire::Retries "0";\n', { flag: "wx" })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST"
  }
  return true
}

/**
 * Returns the variables that lead tools to the directory: those whose place is the usual one, where that can't be written.
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
    // What npm starts has its place in a variable, whoever has set one.
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
