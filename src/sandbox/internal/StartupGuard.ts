/**
 * Checks after each command what the user's own tools will run later: configuration and hooks of git directories, and
 * files of editors, agents and shells.
 *
 * Everyday git writes its configuration, so it can't be read-only. A setting that makes git run a program is reverted
 * unless it was there before the session. New files that run at login are renamed; new files of other tools are
 * reported.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Arr from "effect/Array"
import * as Quote from "../../bash/Quote.js"
import * as Attempt from "../../domain/Attempt.js"
import * as FileStamp from "../../files/FileStamp.js"
import * as StartupFiles from "../config/StartupFiles.js"
import * as FileWalk from "../platform/linux/plan/FileWalk.js"
import * as BytePath from "../policy/BytePath.js"
import * as GitConfig from "../policy/GitConfig.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import { within } from "../policy/HeldDirectory.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as RealPath from "../policy/RealPath.js"
import { realOf, type SandboxPolicy } from "../policy/SandboxPolicy.js"

const { isWithin } = HostPath

/** The most bytes of a configuration file that are read. */
const largest = 1024 * 1024

/** How many words of a command may count as directories, and how many file names a message holds. */
const mostWords = 40
const mostNamed = 8

/** A change that reverts what a command did. */
export interface Change {
  /** The file or directory, which becomes read-only with the change. */
  readonly path: string
  /** The sentence that reports it. */
  readonly said: string
  /** Makes the change. Throws if another directory has taken the place. */
  readonly apply: () => void
}

/** A file of a git directory in its last good state. */
interface Good {
  readonly text: string | undefined
  /** The text before the session. */
  readonly began: string | undefined
  /** The target, if it was a link before the session. */
  readonly link: string | undefined
  /** True for an unreadable file of the user's, which is left alone. */
  readonly isForeign?: boolean
  /** The state of the file when it was last read, if it had settled. */
  readonly stamp?: string | undefined
}

interface Known {
  readonly files: Map<string, Good>
  /** The hooks before the session, by their stamps. */
  readonly hooks: ReadonlySet<string>
  /** The stamp of their directory, if the sandbox has it read-only. */
  readonly held: string | undefined
}

const unknown: Known = { files: new Map(), hooks: new Set(), held: undefined }
const nothing: Good = { text: undefined, began: undefined, link: undefined }

/** The sources of rules by which a user names what commands may write. */
const isNamedBy = new Set(["file", "user", "runtime"])

/** Matches history files, which programs write by themselves and do not obey. */
const isHistory = /hist|viminfo$|lesshst$/

const configs = ["config", "config.worktree"]
/** The configuration of all repositories, in a home. */
const globals = [".gitconfig", ".config/git/config"]

const textOf = (entry: GitConfig.Entry): string => JSON.stringify([GitConfig.nameOf(entry), entry.value])

const linkAt = (path: string): string | undefined =>
  Attempt.orUndefined(() =>
    Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? BytePath.readLink(path)
      : undefined
  )

/** Returns the names of what git would run as hooks; `.` where they can't be listed, because git needs no list. */
const hooksIn = (directory: string): ReadonlyArray<string> =>
  Attempt.orElse(
    () => BytePath.namesIn(directory).filter((name) => !/\.(?:sample|disabled)$/.test(name)),
    HostPath.isDirectory(directory) ? ["."] : []
  )

const settledStamp = (path: string): string | undefined => FileStamp.settled(BytePath.toHost(path))

const stampIn = (directory: string, name: string): string =>
  `${name} ${FileStamp.of(BytePath.toHost(`${directory}/${name}`)).text}`

/** A command may also have removed the owner's rights to the directory. */
const makeWritable = (reached: string): void => {
  const { mode } = Fs.statSync(reached)
  if ((mode & 0o700) !== 0o700) Fs.chmodSync(reached, (mode & 0o7777) | 0o700)
}

/** Renames what git would use. A command may have taken the new name or made it too long; then the file is removed. */
const disable = (path: string): void => {
  const from = BytePath.toHost(path)
  const isRenamed = Attempt.orElse(() => Fs.renameSync(from, BytePath.toHost(`${path}.disabled`)) === undefined, false)
  if (!isRenamed) Fs.rmSync(from, { recursive: true, force: true })
}

/** Replaces whatever is there by a file; without a text, removes it. */
const put = (reached: string, name: string, text: string | undefined): void => {
  const path = `${reached}/${name}`
  makeWritable(reached)
  if (HostPath.isDirectory(path) && linkAt(path) === undefined) disable(path)
  if (text === undefined) return Fs.rmSync(path, { force: true })
  const { gid, mode, uid } = Fs.lstatSync(path, { throwIfNoEntry: false }) ?? Fs.statSync(reached)
  const temporary = `${path}.synapse-${process.pid}`
  Fs.rmSync(temporary, { force: true, recursive: true })
  Fs.writeFileSync(temporary, text, { encoding: "latin1", flag: "wx", mode: (mode & 0o666) | 0o600 })
  if (process.getuid?.() === 0) Fs.lchownSync(temporary, uid, gid)
  Fs.renameSync(temporary, path)
}

const listed = (names: ReadonlyArray<string>): string =>
  names.slice(0, mostNamed).map(Name.of).join(", ") +
  (names.length > mostNamed ? ` and ${names.length - mostNamed} others` : "")

/** Returns the name that a tool looks for. Of workspaces, it looks for the ending. */
const toolOf = (path: string): string => (/\.code-workspace$/i.exec(path)?.[0] ?? Path.basename(path)).toLowerCase()

/** Returns the directories that a command's words may name, if the command may use git. */
const directoriesIn = (command: string, cwd: string): ReadonlyArray<string> => {
  if (!command.includes("git")) return []
  const words = command.slice(0, largest).match(/[^\s;&|()<>"'=]+/g) ?? []
  return words.slice(0, mostWords).map((word) => Path.resolve(cwd, word))
}

/** The time that an exiting process has to search for git directories, in ms. */
const longest = 1000

/** The state of a missing file. */
const missing = "-"

/** Tells which directories are as they were at the last look. After each command, a directory is looked at once. */
class Unchanged {
  /** The state of each directory at the last look. */
  private readonly states = new Map<string, string | undefined>()
  private readonly looks = new Map<string, boolean>()

  /** Lets every directory be looked at again. */
  again(): void {
    this.looks.clear()
  }

  has(directory: string): boolean {
    const looked = this.looks.get(directory)
    if (looked !== undefined) return looked
    const now = settledStamp(directory)
    const isSame = now !== undefined && now === this.states.get(directory)
    this.states.set(directory, now)
    this.looks.set(directory, isSame)
    return isSame
  }
}

/** Returns the links on the way to a path's directory, each with its target. */
const linksTo = (path: string): ReadonlyArray<string> =>
  RealPath.follow(Path.dirname(path)).links.map((link) => `${link}\0${linkAt(link)}`)

/** Remembers what was there before the session, and finds what commands have added. */
export class StartupGuard {
  /** The directories and files that commands may write. */
  private roots: ReadonlyArray<string>
  /** Synapse's own directories for commands, where no git directory is the user's: their `/tmp`, and the caches of tools. */
  private readonly own: ReadonlyArray<string>
  /** The machine's directories for temporary files, if commands have these. */
  private readonly machines: ReadonlyArray<string>
  private places: StartupFiles.Places
  /** Named directories and files that were no git directories at the start. A command may turn them into one. */
  private readonly plain: Set<string>
  /** The directories that were allowed since the start. */
  private readonly added = new Set<string>()
  private readonly known = new Map<string, Known>()
  /** By directory, the state of each file whose change is reported; undefined once reported, or if read-only. */
  private readonly stamps = new Map<string, Map<string, string | undefined>>()
  /** What was missing before the session and would run by itself, with the links that led to its directory. */
  private readonly unmade = new Map<string, ReadonlyArray<string>>()
  /** The files of the user's own git that were missing before the session. */
  private global: ReadonlyArray<string> = []
  private readonly unchanged = new Unchanged()
  /** Files of other tools that were new or changed at a look, and are not reported yet. */
  private readonly untold: Array<string> = []
  /** Directories that hold no git directory and nothing that leads to one. */
  private readonly barren = new Set<string>()
  /** Directories that no command can write and that are in no repository. */
  private readonly empty = new Set<string>()
  private isBegun = false

  constructor(
    private readonly policy: SandboxPolicy,
    userHome: string
  ) {
    const rules = policy.shown === undefined ? policy.whitelist.filter(({ source }) => source !== "tmp") : []
    this.roots = rules.map(realOf)
    const { temporary, toolCache, whitelist } = policy
    this.own = [temporary, toolCache].filter((rule) => rule !== undefined).map(realOf)
    this.machines = temporary === undefined ? whitelist.filter(({ source }) => source === "tmp").map(realOf) : []
    const named = rules.filter(({ isNamed, source }) => isNamed === true || isNamedBy.has(source)).map(realOf)
    this.places = { cwd: policy.cwd, userHome: RealPath.follow(userHome).real, writable: this.roots, named }
    this.plain = new Set(named.filter((path) => !GitDirectory.at(path).has(path)))
  }

  /**
   * Takes everything that exists when the session begins for the user's own.
   *
   * @param repositories directories that may be git directories
   */
  begin(repositories: ReadonlyArray<string>): void {
    if (this.isBegun) return
    this.isBegun = true
    this.global = globals.map((name) => `${this.places.userHome}/${name}`).filter(HostPath.isMissing)
    const readonly = new Set(this.policy.readonly.map(({ path }) => path))
    for (const git of this.find([...GitDirectory.upwards(this.policy.cwd), ...repositories])) {
      if (this.own.some((directory) => isWithin(git, directory))) continue
      const files = new Map<string, Good>()
      for (const name of [...configs, "commondir"]) {
        const path = `${git}/${name}`
        if (HostPath.isMissing(path)) continue
        const link = linkAt(path)
        const text = GitDirectory.readFile(link === undefined ? path : Path.resolve(git, link), largest)
        files.set(name, { text, began: text, link, isForeign: text === undefined })
      }
      const hooks = `${git}/hooks`
      this.known.set(git, {
        files,
        hooks: new Set(hooksIn(hooks).map((name) => stampIn(hooks, name))),
        held: readonly.has(hooks) ? HostPath.identityAt(hooks) : undefined
      })
    }
    this.watch(this.places, readonly)
  }

  /** Starts to watch a directory that commands may write from now on, unless it needs a new sandbox. */
  add(root: string): void {
    this.added.add(root)
    this.plain.add(root)
    this.roots = [...this.roots, root]
    this.places = { ...this.places, writable: this.roots, named: [...this.places.named, root] }
    this.empty.clear()
    this.watch({ ...this.places, writable: [root] })
  }

  private watch(places: StartupFiles.Places, readonly: ReadonlySet<string> = new Set()): void {
    for (const path of StartupFiles.unmade(places)) this.unmade.set(path, linksTo(path))
    // A link can be replaced even if its target is read-only.
    const isHeld = (path: string) => readonly.has(path) && RealPath.follow(path).links.length === 0
    for (const path of StartupFiles.candidates(places))
      if (!this.unmade.has(path)) this.stamp(path, isHeld(path) ? undefined : stampOf(path))
    // An existing secret can't be written. A new one would be a command's, such as a key that opens the account.
    for (const { kind, path: written, real: path = written, source } of this.policy.blacklist)
      if (kind === "path" && source === "default" && places.writable.some((root) => isWithin(path, root)))
        if (!isHistory.test(path) && HostPath.isMissing(path)) this.stamp(path, missing)
  }

  private stamp(path: string, state: string | undefined): void {
    const directory = Path.dirname(path)
    const stamps = this.stamps.get(directory) ?? new Map<string, string | undefined>()
    this.stamps.set(directory, stamps.set(path, state))
  }

  /** Tests whether the running sandbox cannot make a path read-only: in an added directory, or in two places at once. */
  isAdded(path: string): boolean {
    return [...this.added, ...this.own].some((root) => isWithin(path, root))
  }

  /** Stops watching a directory that commands may not write any more. */
  leave(root: string): void {
    this.added.delete(root)
    this.roots = this.roots.filter((one) => one !== root)
    this.places = { ...this.places, writable: this.roots, named: this.places.named.filter((one) => one !== root) }
    for (const stamps of this.stamps.values())
      for (const path of stamps.keys()) if (isWithin(path, root)) stamps.delete(path)
  }

  /** Finds what to revert after a command, which began and ended in these directories. */
  afterCommand(command: string, directories: ReadonlyArray<string>): ReadonlyArray<Change> {
    const [before = "/"] = directories
    const around = [this.policy.cwd, ...directories].flatMap(GitDirectory.upwards)
    return this.changes([...around, ...directoriesIn(command, before)], "quick")
  }

  private changes(directories: ReadonlyArray<string>, pace?: "quick"): ReadonlyArray<Change> {
    if (!this.isBegun || this.roots.length === 0) return []
    const changes = [
      ...[...this.find(directories)].flatMap((git) => [
        ...configs.map((name) => this.configChange(git, name, pace)),
        this.commonChange(git),
        this.hooksChange(git)
      ]),
      ...StartupFiles.changeable(this.places, this.global).map((path) => this.globalChange(path, pace)),
      ...StartupFiles.changeable(this.places, [...this.unmade.keys()]).map((path) => this.madeChange(path))
    ].filter((change) => change !== undefined)
    this.note()
    return changes
  }

  /**
   * Finds what to revert in all git directories that were found in the session. All files are read: a process can
   * change a mapped file without updating its time.
   *
   * @param repositories directories that may be git directories. By default, they are searched for without yielding.
   */
  allChanges(repositories: ReadonlyArray<string> = this.search()): ReadonlyArray<Change> {
    return this.changes([...GitDirectory.upwards(this.policy.cwd), ...this.known.keys(), ...repositories])
  }

  private search(): ReadonlyArray<string> {
    const until = performance.now() + longest
    const found: Array<string> = []
    const left = this.isBegun ? [...this.roots] : []
    for (let path = left.pop(); path !== undefined && performance.now() < until; path = left.pop())
      for (const entry of FileWalk.list(path) ?? [])
        if (entry.name === ".git" || entry.name === "HEAD") found.push(path)
        else if (entry.isDirectory()) left.push(`${path}/${entry.name}`)
    return found
  }

  /** Returns a sentence about new or changed files of other tools; each is reported once. */
  told(): string | undefined {
    const changed = this.untold.splice(0)
    if (changed.length === 0) return undefined
    // Each tool is named, whatever else has changed.
    const names = Object.values(Arr.groupBy(changed, toolOf)).map((paths) => this.list(paths))
    return `Tools outside of the sandbox run or load what has changed: ${names.join(", ")}. It should be looked at first.`
  }

  private note(): void {
    for (const [directory, stamps] of this.stamps) {
      const isSame = this.unchanged.has(directory)
      if (!isSame)
        for (const path of StartupFiles.changeable(
          this.places,
          StartupFiles.entriesIn(directory, this.places.userHome)
        ))
          if (!stamps.has(path)) stamps.set(path, missing)
      for (const [path, stamp] of stamps) {
        if (stamp === undefined || (isSame && stamp === missing) || stampOf(path) === stamp) continue
        stamps.set(path, undefined)
        if (!HostPath.isMissing(path)) this.untold.push(path)
      }
    }
  }

  private list(paths: ReadonlyArray<string>): string {
    const { cwd } = this.policy
    return listed(paths.map((path) => (isWithin(path, cwd) ? Path.relative(cwd, path) : path)))
  }

  private find(directories: ReadonlyArray<string>): ReadonlySet<string> {
    const found = new Set<string>()
    const writable = [...this.roots, ...this.own, ...this.machines]
    this.unchanged.again()
    for (const directory of new Set(directories)) {
      if (this.empty.has(directory) || (this.unchanged.has(directory) && this.barren.has(directory))) continue
      const all = GitDirectory.at(directory)
      if (all.size === 0 && HostPath.isMissing(`${directory}/.git`)) this.barren.add(directory)
      else this.barren.delete(directory)
      // No command creates a repository in a place that no command can write.
      if (all.size === 0 && !this.roots.some((root) => isWithin(directory, root))) this.empty.add(directory)
      for (const git of all) {
        const isNamed = this.places.named.includes(git) && !this.plain.has(git)
        if (!isNamed && writable.some((place) => isWithin(git, place))) found.add(git)
      }
    }
    return found
  }

  private globalChange(path: string, pace: "quick" | undefined): Change | undefined {
    const directory = RealPath.follow(Path.dirname(path)).real
    // A command can make a link to a directory that it can't write.
    const isReached = [...this.roots, ...this.machines].some((root) => isWithin(directory, root))
    return isReached ? this.configChange(directory, Path.basename(path), pace, "global") : undefined
  }

  private configChange(git: string, name: string, pace?: "quick", scope?: "global"): Change | undefined {
    const good = this.known.get(git)?.files.get(name) ?? nothing
    const path = `${git}/${name}`
    if (HostPath.isMissing(path) || good.isForeign === true || StartupFiles.isNamed(this.places, path)) return undefined
    const link = linkAt(path)
    const stamp = settledStamp(path)
    if (pace === "quick" && stamp !== undefined && stamp === good.stamp) return undefined
    const text =
      link !== good.link
        ? undefined
        : link === undefined
          ? within(git, (reached) => GitDirectory.readFile(`${reached}/${name}`, largest))
          : GitDirectory.readFile(Path.resolve(git, link), largest)
    if (text !== undefined && text === good.text) {
      this.remember(git, name, { ...good, stamp })
      return undefined
    }
    const entries = text === undefined ? undefined : GitConfig.parse(text)
    const before = new Set((GitConfig.parse(good.began ?? "") ?? []).map(textOf))
    const place = this.place(git, scope)
    const isKept = (entry: GitConfig.Entry) => before.has(textOf(entry)) || GitConfig.isEveryday(entry, place)
    const kept = entries?.filter(isKept)
    if (entries !== undefined && kept?.length === entries.length) {
      this.remember(git, name, { ...good, text, stamp })
      return undefined
    }
    const isAsBefore =
      kept?.map(textOf).join() ===
      GitConfig.parse(good.text ?? "")
        ?.map(textOf)
        .join()
    // A file that is printed anew has no comments.
    const replaced = kept === undefined || isAsBefore ? (good.text ?? "") : GitConfig.print(kept)
    const names = [...new Set(entries?.filter((entry) => !isKept(entry)).map(GitConfig.nameOf))]
    return {
      path,
      apply: () => {
        within(git, (reached) => put(reached, name, replaced))
        this.remember(git, name, { ...good, text: replaced, link: undefined, stamp: undefined })
      },
      said:
        entries === undefined
          ? `${this.list([path])} was restored: git could not read it, or might read it differently.`
          : `Taken back from ${this.list([path])}: ${listed(names)}. git would run programs outside of the sandbox for it. To allow it, outside of the sandbox: synapse sandbox allow ${Quote.line(git)}.`
    }
  }

  /** git reads the configuration that `commondir` names, and only a linked worktree should have that file. */
  private commonChange(git: string): Change | undefined {
    const path = `${git}/commondir`
    const { text: before } = this.known.get(git)?.files.get("commondir") ?? nothing
    if (HostPath.isMissing(path)) return undefined
    const text = GitDirectory.readFile(path, largest)
    const isWorktrees = Path.basename(Path.dirname(git)) === "worktrees"
    const usual = isWorktrees ? Path.dirname(Path.dirname(git)) : undefined
    if (text !== undefined && (text === before || Path.resolve(git, text.trimEnd()) === usual)) return undefined
    return {
      path,
      apply: () => within(git, (reached) => put(reached, "commondir", before)),
      said: `${this.list([path])} was ${before === undefined ? "removed" : "restored"}: it led git to another configuration.`
    }
  }

  private hooksChange(git: string): Change | undefined {
    const hooks = `${git}/hooks`
    const { held, hooks: before } = this.known.get(git) ?? unknown
    if (HostPath.isMissing(hooks) || (held !== undefined && held === HostPath.identityAt(hooks))) return undefined
    if (StartupFiles.isNamed(this.places, hooks)) return undefined
    const addedIn = (directory: string) => hooksIn(directory).filter((name) => !before.has(stampIn(directory, name)))
    const added = addedIn(hooks)
    if (added.length === 0) return undefined
    const isLink = linkAt(hooks) !== undefined
    return {
      path: hooks,
      apply: () => {
        if (isLink) return within(git, (reached) => put(reached, "hooks", undefined))
        return within(hooks, (reached) => {
          makeWritable(reached)
          for (const name of addedIn(reached)) disable(`${reached}/${name}`)
        })
      },
      said: isLink
        ? `The link ${this.list([hooks])} was removed: it led git to hooks, which run outside of the sandbox.`
        : `Hooks run outside of the sandbox, so these were renamed to *.disabled: ${this.list(added.map((name) => `${hooks}/${name}`))}. To allow them, outside of the sandbox: synapse sandbox allow ${Quote.line(git)}.`
    }
  }

  private madeChange(path: string): Change | undefined {
    if (HostPath.isMissing(path)) return undefined
    const before = this.unmade.get(path)
    const link = linksTo(path).find((one) => before?.includes(one) === false)
    const [made = ""] = (link ?? `${RealPath.follow(Path.dirname(path)).real}/${Path.basename(path)}`).split("\0")
    if (!this.roots.some((root) => isWithin(made, root))) {
      this.unmade.delete(path)
      this.stamp(path, missing)
      return undefined
    }
    return {
      path: made,
      apply: () =>
        within(Path.dirname(made), (reached) => {
          makeWritable(reached)
          disable(`${reached}/${Path.basename(made)}`)
        }),
      said: `${this.list([made])} would run outside of the sandbox at the next login, so it was renamed to *.disabled.`
    }
  }

  private place(git: string, scope: "global" | undefined): GitConfig.Place {
    const top = Path.basename(git) === ".git" ? Path.dirname(git) : git
    return {
      isWritable: (path) => this.roots.some((root) => isWithin(Path.resolve(git, path), root)),
      isAllowedHooks: (path) => {
        const hooks = Path.resolve(top, path)
        return (
          (scope === undefined && hooks === `${git}/hooks`) ||
          hooks === "/dev/null" ||
          StartupFiles.isNamed(this.places, hooks)
        )
      }
    }
  }

  private remember(git: string, name: string, good: Good): void {
    const known = this.known.get(git) ?? { ...unknown, files: new Map() }
    known.files.set(name, good)
    this.known.set(git, known)
  }
}

/** The state of a file, and of a directory's entries. */
const stampOf = (path: string): string => {
  const { text } = FileStamp.of(BytePath.toHost(path))
  if (text === missing || !HostPath.isDirectory(path)) return text
  return Attempt.orElse(
    () =>
      BytePath.namesIn(path)
        .slice(0, mostWords)
        .map((name) => stampIn(path, name))
        .join("\n"),
    text
  )
}
