/**
 * Keeps a directory's state before and after a run, so that the run's changes can be shown and undone. Files are git
 * objects in a separate store of Synapse. git runs without the repository's and the user's settings, so no command,
 * filter or hook in them can run.
 */
import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Zlib from "node:zlib"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Attempt from "../domain/Attempt.js"
import * as Yield from "../domain/Yield.js"
import * as Directories from "../files/Directories.js"
import * as RegularFile from "../files/RegularFile.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import type { SandboxPolicy } from "../sandbox/policy/SandboxPolicy.js"

/** The limits of a snapshot, of a git call (output in bytes, time in ms), and of a store. */
const limits = {
  files: 20_000,
  bytes: 256 * 1024 ** 2,
  fileBytes: 10 * 1024 ** 2,
  output: 32 * 1024 ** 2,
  time: 15_000
}
const storeLimits = { kibibytes: 1024 ** 2, age: 30 * 24 * 3600_000, turns: 20 }

/** The paths of git. `PATH` is not searched: a command could have put a fake git into a directory of it. */
const programs = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/run/current-system/sw/bin/git"]

/** Says why there is no snapshot, or why nothing can be undone. */
export class NoSnapshot extends Data.TaggedError("NoSnapshot")<{ readonly message: string }> {}

const Turn = Schema.parseJson(
  Schema.Struct({
    session: Schema.String,
    /** When it began, in ms since 1970. */
    time: Schema.Number,
    /** The directory that the paths in its trees are relative to. */
    root: Schema.String,
    before: Schema.optional(Schema.String),
    /** Missing while the run goes on, and after it was killed. */
    after: Schema.optional(Schema.String),
    /** The number of files that were too large. */
    large: Schema.optional(Schema.Number),
    /** The permission bits of files before the run, which trees do not keep. The keys are paths in base64. */
    modes: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Number })),
    /** Files that could not be read and were not kept. */
    unread: Schema.optional(Schema.Array(Schema.String)),
    /** Why there is no snapshot. */
    problem: Schema.optional(Schema.String)
  })
)

/** A run that changed something or could not be kept. */
export type Turn = typeof Turn.Type

export interface Place {
  /** The directory of Synapse's own files. */
  readonly home: string
  /** The real path of the working directory. */
  readonly cwd: string
}

/** A file in git's format: its mode in six digits, a blank, and its object id. */
type Entry = string

/** A file that differs. Each character of its relative path is one byte. */
export interface Change {
  readonly path: string
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** The result of undoing one change. */
export interface Outcome {
  readonly path: string
  readonly state: "restored" | "removed" | "changed since" | "failed"
}

const storeOf = ({ cwd, home }: Place): string =>
  Path.join(home, "snapshots", Crypto.createHash("sha256").update(cwd).digest("hex").slice(0, 16))

const tookLong = `git took longer than ${limits.time / 1000} seconds`

const reasonOf = (error: unknown): string => {
  const { code, killed, message, stderr } = error as ChildProcess.ExecFileException & { readonly stderr?: string }
  if (killed === true) return tookLong
  if (String(code) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return `more than ${limits.output / 1024 ** 2} MiB of names or changes`
  return stderr === undefined || stderr === "" ? message : `git: ${stderr.trim()}`
}

/** Runs git on a store. */
class Git {
  private readonly program = programs.find((path) => Fs.existsSync(path))
  readonly directory: string

  constructor(
    private readonly store: string,
    private readonly cwd: string,
    private readonly root: string,
    private readonly index: string
  ) {
    this.directory = Path.join(store, "git")
  }

  run(args: ReadonlyArray<string>, input = "", index = this.index): Effect.Effect<string, NoSnapshot> {
    const { program } = this
    if (program === undefined) return new NoSnapshot({ message: `there is no git at ${programs.join(", ")}` })
    return Effect.async<string, NoSnapshot>((resume) => {
      const child = ChildProcess.execFile(
        program,
        ["-c", "core.quotePath=false", ...args],
        {
          cwd: this.cwd,
          encoding: "latin1",
          maxBuffer: limits.output,
          timeout: limits.time,
          killSignal: "SIGKILL",
          env: {
            PATH: "/usr/bin:/bin",
            HOME: this.store,
            LC_ALL: "C",
            GIT_DIR: this.directory,
            GIT_WORK_TREE: this.root,
            GIT_INDEX_FILE: Path.join(this.directory, index),
            GIT_CONFIG_NOSYSTEM: "1",
            GIT_CONFIG_GLOBAL: "/dev/null"
          }
        },
        (error, stdout) =>
          resume(error === null ? Effect.succeed(stdout) : new NoSnapshot({ message: reasonOf(error) }))
      )
      child.stdin?.on("error", () => {}).end(input, "latin1")
      return Effect.sync(() => void child.kill("SIGKILL"))
    })
  }

  /**
   * Writes an object directly. git would follow attributes, hang on named pipes, and fail as a whole for one bad file.
   */
  keep({ content, id }: Content): void {
    const path = Path.join(this.directory, "objects", id.slice(0, 2), id.slice(2))
    if (Fs.existsSync(path)) return
    Directories.make(Path.dirname(path))
    const made = `${path}.${Crypto.randomUUID()}`
    Fs.writeFileSync(made, Zlib.deflateSync(content, { level: 0 }), { mode: 0o600 })
    Fs.renameSync(made, path)
  }

  hasIndex(): boolean {
    return Fs.existsSync(Path.join(this.directory, this.index))
  }

  /** Creates the store if it is missing. */
  readonly open = Effect.suspend(() => {
    if (Fs.existsSync(this.directory)) return Effect.void
    Directories.make(Path.join(this.store, "turns"))
    return this.run(["init", "--quiet", "--template="])
  })
}

const nameOf = (bytes: string): Buffer => Buffer.from(bytes, "latin1")
const keyOf = (bytes: string): string => nameOf(bytes).toString("base64")
const within = (directory: string, path: string): Buffer => Buffer.concat([Buffer.from(`${directory}/`), nameOf(path)])
const lookAt = (path: Buffer): Fs.Stats | undefined => Attempt.orUndefined(() => Fs.lstatSync(path))
const split = (text: string): ReadonlyArray<string> => text.split("\0").filter((path) => path !== "")

/** Returns the root of the surrounding repository, whose ignore rules apply, or the directory itself. */
const rootOf = (cwd: string): string => {
  for (let at = cwd; ; at = Path.dirname(at)) {
    if (Fs.existsSync(Path.join(at, ".git"))) return at
    if (at === Path.dirname(at)) return cwd
  }
}

/** A file or a link, with its content as git stores it. */
interface Content {
  readonly entry: Entry
  readonly id: string
  readonly content: Buffer
  readonly mode: number
}

/** Reads a file or a link. Throws if it is unreadable. */
const read = (path: Buffer): Content | "large" | "other" | undefined => {
  const stats = Fs.lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const isLink = stats.isSymbolicLink()
  if (!stats.isFile() && !isLink) return "other"
  if (stats.size > limits.fileBytes) return "large"
  const isOther = (stats: Fs.Stats) => !stats.isFile() || undefined
  const bytes = isLink
    ? Fs.readlinkSync(path, "buffer")
    : Either.getOrUndefined(RegularFile.use(path, false, isOther, (fd) => RegularFile.readAt(fd, 0, limits.fileBytes)))
  if (bytes === undefined) return "other"
  const content = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])
  const id = Crypto.createHash("sha1").update(content).digest("hex")
  const mode = isLink ? "120000" : (stats.mode & 0o100) === 0 ? "100644" : "100755"
  return { content, entry: `${mode} ${id}`, id, mode: stats.mode & 0o777 }
}

/** The state of a directory at one moment, as git stores it. */
interface DirectoryState {
  /** The permission bits of files other than 644 and 755. */
  readonly modes: Readonly<Record<string, number>>
  readonly tree: string
  readonly large: number
  readonly unread: ReadonlyArray<string>
  /**
   * Existing files that were not kept: ignored, too large, hidden, or in another repository. Directories end with a
   * slash.
   */
  readonly skipped: ReadonlySet<string>
}

/** Returns the parent directories of a path with their slashes, outermost first. */
const around = (path: string): ReadonlyArray<string> =>
  [...path.slice(0, -1).matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))

/**
 * Writes the tree of the directory's current state.
 *
 * The run can change ignore rules, so they only decide about new files. Files kept earlier are kept again. Files
 * skipped before the run do not count as new after it.
 */
const treeOf = (git: Git, { cwd }: Place, root: string, isHidden: (path: string) => boolean, before?: DirectoryState) =>
  Effect.gen(function* () {
    // Without an index, git lists all files as untracked. It then follows no links and enters no other repositories.
    const others = ["ls-files", "-z", "--others"]
    const known = new Set(git.hasIndex() ? split(yield* git.run(["ls-files", "-z"])) : [])
    const listed = yield* Effect.either(git.run([...others, "--exclude-standard"], "", "none"))
    // git hangs on a `.gitignore` that is a named pipe. Files known from earlier are kept all the same.
    if (Either.isLeft(listed) && (listed.left.message !== tookLong || known.size === 0)) return yield* listed.left
    const present = Either.isLeft(listed) ? [] : split(listed.right)
    const unread = Either.isLeft(listed) ? [`new files (${tookLong})`] : []
    const rules = Either.isLeft(listed) ? "--exclude=*" : "--exclude-standard"
    const ignored = git.run([...others, rules, "--ignored", "--directory"], "", "none")
    const skipped = new Set(before?.skipped ?? split(yield* ignored))
    const isSkipped = (path: string) => skipped.has(path) || around(path).some((directory) => skipped.has(directory))
    const seen = new Set(present.filter((path) => known.has(path) || !isSkipped(path)))
    const isThere = (path: string) =>
      seen.has(path) || around(path).every((directory) => lookAt(within(cwd, directory.slice(0, -1)))?.isDirectory())
    const paths = new Set([...seen, ...known])
    if (paths.size > limits.files) {
      return yield* new NoSnapshot({ message: `the directory has more than ${limits.files} files` })
    }
    /** Lines for `git update-index --index-info`. The mode 0 removes a path from the index. */
    const entries: Array<string> = []
    const modes: Record<string, number> = {}
    const prefix = Buffer.from(Path.relative(root, cwd)).toString("latin1").replace(/(.)$/, "$1/")
    let bytes = 0
    let large = 0
    yield* Yield.run(function* () {
      for (const path of paths) {
        yield
        const whole = within(cwd, path)
        const look = () => {
          const content = isHidden(whole.toString()) ? "hidden" : read(whole)
          if (typeof content === "object") git.keep(content)
          return content
        }
        const found = isThere(path) ? Attempt.orElse(look, "unread") : undefined
        if (typeof found !== "object") {
          if (found === "large") large++
          if (found === "unread") unread.push(nameOf(path).toString())
          // After the run, an existing file that can't be kept counts as unchanged.
          const isGone = before === undefined || found === undefined || found === "other"
          if (known.has(path) && isGone) entries.push(`0 ${"0".repeat(40)}\t${prefix}${path}`)
          if (before === undefined && found !== undefined) skipped.add(path)
        } else {
          bytes += found.content.length
          if (bytes > limits.bytes) return
          if (found.mode !== 0o644 && found.mode !== 0o755) modes[keyOf(`${prefix}${path}`)] = found.mode
          entries.push(`${found.entry}\t${prefix}${path}`)
        }
      }
    })
    if (bytes > limits.bytes) {
      return yield* new NoSnapshot({ message: `the directory holds more than ${limits.bytes / 1024 ** 2} MiB` })
    }
    if (entries.length > 0) yield* git.run(["update-index", "-z", "--index-info"], entries.join("\0"))
    return { large, modes, skipped, unread: unread.slice(0, 20), tree: (yield* git.run(["write-tree"])).trim() }
  })

const turnsOf = (store: string): ReadonlyArray<string> =>
  Attempt.orElse(() => Fs.readdirSync(Path.join(store, "turns")), [])
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => Path.join(store, "turns", name))

const write = (path: string, turn: Turn): void => {
  Fs.writeFileSync(`${path}.new`, Schema.encodeSync(Turn)(turn), { mode: 0o600 })
  Fs.renameSync(`${path}.new`, path)
}

/** Removes stores that were long unused, old turns, and this store if it is too large. */
const prune = (git: Git, store: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const around = Path.dirname(store)
    for (const name of Attempt.orElse(() => Fs.readdirSync(around), [])) {
      const path = Path.join(around, name)
      const used = lookAt(Buffer.from(`${path}/turns`))?.mtimeMs ?? 0
      if (path !== store && now - used > storeLimits.age) Fs.rmSync(path, { recursive: true, force: true })
    }
    for (const path of turnsOf(store).slice(0, -storeLimits.turns)) Fs.rmSync(path, { force: true })
    const size = Fs.existsSync(git.directory) ? yield* git.run(["count-objects", "-v"]) : ""
    if (Number(/^size: (\d+)/m.exec(size)?.[1] ?? 0) > storeLimits.kibibytes) Fs.rmSync(store, { recursive: true })
  })

/**
 * Keeps a directory's state before a run, and returns an effect that keeps it after the run. It never fails: the turn
 * then records why it can't be undone.
 *
 * @param isHidden tests for files that commands can't read, which are not kept
 */
export const begin = (
  place: Place,
  session: string,
  isHidden: (path: string) => boolean
): Effect.Effect<{ readonly end: Effect.Effect<void> }> =>
  Effect.gen(function* () {
    const store = storeOf(place)
    const time = yield* Clock.currentTimeMillis
    const root = rootOf(place.cwd)
    const index = `index.${session}`
    const git = new Git(store, place.cwd, root, index)
    const path = Path.join(store, "turns", `${time}-${session}.json`)
    const kept = Effect.gen(function* () {
      yield* prune(git, store)
      yield* git.open
      Attempt.ignore(() => Fs.copyFileSync(Path.join(git.directory, "index"), Path.join(git.directory, index)))
      return yield* treeOf(git, place, root, isHidden)
    })
    const before = yield* Effect.either(kept)
    const turn = { session, time, root }
    const keep = (turn: Turn) => Effect.sync(() => Attempt.ignore(() => write(path, turn)))
    if (before._tag === "Left") {
      // Ignore rules may exclude what was too much this time.
      for (const name of ["index", index]) Attempt.ignore(() => Fs.rmSync(Path.join(git.directory, name)))
      Attempt.ignore(() => Directories.make(Path.dirname(path)))
      yield* keep({ ...turn, problem: before.left.message })
      return { end: Effect.void }
    }
    const { large, modes, tree, unread } = before.right
    const begun = { ...turn, before: tree, large, modes, unread }
    yield* keep(begun)
    const end = Effect.gen(function* () {
      const after = yield* Effect.either(treeOf(git, place, root, isHidden, before.right))
      Attempt.ignore(() => Fs.renameSync(Path.join(git.directory, index), Path.join(git.directory, "index")))
      if (after._tag === "Left") return yield* keep({ ...begun, problem: after.left.message })
      // A run without changes leaves the previous run to be undone.
      if (after.right.tree === tree) return Attempt.ignore(() => Fs.rmSync(path))
      const left = {
        large: Math.max(large, after.right.large),
        unread: [...new Set([...unread, ...after.right.unread])]
      }
      yield* keep({ ...begun, ...left, after: after.right.tree })
    })
    return { end }
  }).pipe(Effect.catchAllDefect((defect) => Effect.as(Effect.logDebug("no snapshot", defect), { end: Effect.void })))

/** A run that is being kept. */
export interface Watched {
  /** Waits until the state before the run is kept. Commands must wait for it. */
  readonly ready: Effect.Effect<void>
  /** Keeps the state after the run. */
  readonly end: Effect.Effect<void>
}

/** Starts to keep a directory's state while the model prepares its first command. */
export const watch = (
  place: Place,
  session: string,
  policy: SandboxPolicy | undefined
): Effect.Effect<Watched, never, Scope.Scope> => {
  const decision = policy && PolicyDecision.make(policy)
  const isHidden = (path: string) => decision?.decide(path, "read").allowed === false
  let hasRun = false
  return Effect.map(Effect.forkScoped(begin(place, session, isHidden)), (fiber) => ({
    ready: Effect.suspend(() => {
      hasRun = true
      return Effect.asVoid(Fiber.await(fiber))
    }),
    // A run without commands has changed nothing, so its unfinished snapshot is dropped.
    end: Effect.flatMap(
      Effect.suspend(() => (hasRun ? Fiber.await(fiber) : Fiber.interrupt(fiber))),
      (exit) => (Exit.isSuccess(exit) ? exit.value.end : Effect.void)
    )
  }))
}

/** The last turn in a directory that changed something, and its changes. */
export interface Last {
  readonly turn: Turn
  readonly changes: ReadonlyArray<Change>
  /** Returns the changes as a diff. */
  readonly diff: Effect.Effect<string, NoSnapshot>
  /** Undoes the changes, except in files that were changed since. */
  readonly undo: Effect.Effect<ReadonlyArray<Outcome>, NoSnapshot>
}

/**
 * Finds the last turn in a directory that changed something.
 *
 * @param mayPass true to skip a turn that can't be undone the next time
 */
export const last = (place: Place, mayPass = false): Effect.Effect<Last, NoSnapshot> =>
  Effect.gen(function* () {
    const store = storeOf(place)
    const path = turnsOf(store).at(-1)
    const turn =
      path === undefined ? undefined : Attempt.orUndefined(() => Schema.decodeSync(Turn)(Fs.readFileSync(path, "utf8")))
    if (path === undefined || turn === undefined) {
      return yield* new NoSnapshot({ message: "No turn here has changed anything that could be taken back." })
    }
    const { after, before, problem, root, session } = turn
    const refuse = (reason: string) => {
      if (mayPass) Fs.rmSync(path)
      return new NoSnapshot({ message: mayPass ? `${reason} Undo again to take back the turn before it.` : reason })
    }
    if (problem !== undefined) {
      return yield* refuse(`The last turn (session ${session}) can't be taken back: ${problem}.`)
    }
    if (before === undefined || after === undefined) {
      const reason = `The last turn (session ${session}) runs, or was killed: its changes can't be told from yours. git diff shows both.`
      return yield* refuse(reason)
    }
    // git runs where no attributes of the project apply.
    const turns = Path.dirname(path)
    const git = new Git(store, turns, turns, "none")
    const raw = split(yield* git.run(["diff-tree", "-r", "-z", "--no-renames", "--raw", before, after]))
    const toEntry = (mode: string, id: string) => (mode === "000000" ? undefined : `${mode} ${id}`)
    const changes = raw.flatMap((text, at): ReadonlyArray<Change> => {
      const [modeBefore = "", mode = "", idBefore = "", id = ""] = text.slice(1).split(" ")
      const path = raw[at + 1]
      if (at % 2 !== 0 || path === undefined) return []
      return [{ path, before: toEntry(modeBefore, idBefore), after: toEntry(mode, id) }]
    })
    return {
      turn,
      changes,
      diff: Effect.map(git.run(["diff", "--no-color", "--no-ext-diff", "--no-renames", before, after]), (text) =>
        nameOf(text).toString()
      ),
      undo: Effect.gen(function* () {
        const outcomes: Array<Outcome> = []
        const isRemoval = ({ before }: Change) => before === undefined
        // Remove new files first: their directory may have replaced a file that comes back.
        for (const change of [...changes.filter(isRemoval).reverse(), ...changes.filter((one) => !isRemoval(one))]) {
          const { before } = change
          const content =
            before === undefined ? "" : yield* git.run(["cat-file", "blob", before.slice("100644 ".length)])
          const state = Attempt.orElse(
            () => takeBack(root, change, nameOf(content), turn.modes?.[keyOf(change.path)]),
            "failed" as const
          )
          outcomes.push({ path: nameOf(change.path).toString(), state })
        }
        if (outcomes.every(({ state }) => state === "restored" || state === "removed")) Fs.rmSync(path)
        return outcomes
      })
    }
  })

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = Fs.constants

/** Calls `use` with a path's directory, which is opened step by step without following links. */
const inParent = <A>(
  root: string,
  names: ReadonlyArray<string>,
  mayMake: boolean,
  use: (at: (name: string) => Buffer) => A
): A => {
  let directory = root
  const open = (path: string | Buffer) => Fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const fds = [open(root)]
  try {
    const at = (name: string): Buffer =>
      within(process.platform === "linux" ? `/proc/self/fd/${fds.at(-1)}` : directory, name)
    for (const name of names) {
      if (mayMake) Attempt.ignore(() => Fs.mkdirSync(at(name)))
      fds.push(open(at(name)))
      directory = `${directory}/${name}`
    }
    return use(at)
  } finally {
    for (const fd of fds) Fs.closeSync(fd)
  }
}

/** Restores a file's old content, unless it was changed since. */
const takeBack = (root: string, { after, before, path }: Change, content: Buffer, mode?: number): Outcome["state"] => {
  const names = path.split("/")
  const name = names.pop() ?? ""
  const done = before === undefined ? "removed" : "restored"
  const isBelow = before !== undefined
  try {
    return inParent(root, names, isBelow && after === undefined, (at) => {
      const found = read(at(name))
      if (found === "other" || found === "large") return "changed since"
      if (found?.entry === before) return done
      if (found?.entry !== after) return "changed since"
      if (before === undefined) {
        Fs.unlinkSync(at(name))
        return done
      }
      const made = at(`.${Crypto.randomUUID()}`)
      if (before.startsWith("120000")) Fs.symlinkSync(content, made)
      else {
        const fd = Fs.openSync(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        try {
          Fs.writeFileSync(fd, content)
          const usual = before.startsWith("100755") ? 0o755 : 0o644
          Fs.fchmodSync(fd, (mode ?? usual) & 0o777)
        } finally {
          Fs.closeSync(fd)
        }
      }
      Fs.renameSync(made, at(name))
      return done
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isElsewhere = code === "ELOOP" || code === "ENOTDIR" || code === "ENOENT"
    return isElsewhere ? (before === undefined && code === "ENOENT" ? "removed" : "changed since") : "failed"
  } finally {
    // Remove directories that only the turn's files were in.
    if (before === undefined) removeEmpty(root, names)
  }
}

const removeEmpty = (root: string, names: ReadonlyArray<string>): void => {
  for (let left = names; left.length > 0; left = left.slice(0, -1)) {
    const isRemoved = Attempt.orElse(() => {
      inParent(root, left.slice(0, -1), false, (at) => Fs.rmdirSync(at(left.at(-1) ?? "")))
      return true
    }, false)
    if (!isRemoved) return
  }
}
