/**
 * Keeps a directory's state before and after a run, so that the run's changes can be shown and undone. Files are git
 * objects in a separate store of Synapse. Where git is installed, it says which files are ignored. It runs without the
 * repository's and the user's settings, so no command, filter or hook in them can run.
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
const storeLimits = { bytes: 1024 ** 3, age: 30 * 24 * 3600_000, turns: 20 }

/** Finds a program. `PATH` is not searched: a command could have put a fake one into a directory of it. */
const programOf = (name: string): string | undefined =>
  ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"]
    .map((directory) => Path.join(directory, name))
    .find((path) => Fs.existsSync(path))

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
  return stderr === undefined || stderr === "" ? message : stderr.trim()
}

/** Runs a program and returns its output. `differs` takes exit code 1 for success. */
const output = (
  program: string,
  args: ReadonlyArray<string>,
  { cwd, differs = false, env = {} }: { readonly cwd: string; readonly differs?: boolean; readonly env?: object }
): Effect.Effect<string, NoSnapshot> =>
  Effect.async<string, NoSnapshot>((resume) => {
    const child = ChildProcess.execFile(
      program,
      args,
      {
        cwd,
        encoding: "latin1",
        maxBuffer: limits.output,
        timeout: limits.time,
        killSignal: "SIGKILL",
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C", ...env }
      },
      (error, stdout) =>
        resume(
          error === null || (differs && error.code === 1)
            ? Effect.succeed(stdout)
            : new NoSnapshot({ message: reasonOf(error) })
        )
    )
    child.stdin?.on("error", () => {}).end()
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/** The entries of files by their relative paths. */
type Tree = ReadonlyMap<string, Entry>

/** Keeps files and trees. A tree is the text of its entries. */
class Store {
  constructor(readonly directory: string) {}

  private at(id: string): string {
    return Path.join(this.directory, "objects", id.slice(0, 2), id.slice(2))
  }

  keep({ content, id }: Pick<Content, "content" | "id">): void {
    const path = this.at(id)
    if (Fs.existsSync(path)) return
    Directories.make(Path.dirname(path))
    const made = `${path}.${Crypto.randomUUID()}`
    Fs.writeFileSync(made, Zlib.deflateSync(content, { level: 0 }), { mode: 0o600 })
    Fs.renameSync(made, path)
  }

  read(id: string): Buffer {
    const content = Zlib.inflateSync(Fs.readFileSync(this.at(id)))
    return content.subarray(content.indexOf(0) + 1)
  }

  keepTree(tree: Tree): string {
    const lines = [...tree].sort().map(([path, entry]) => `${entry}\t${path}\0`)
    const object = objectOf(Buffer.from(lines.join(""), "latin1"))
    this.keep(object)
    return object.id
  }

  tree(id: string): Tree {
    const line = /^(\d{6} [0-9a-f]+)\t([\s\S]*)$/
    return new Map(
      split(this.read(id).toString("latin1")).map((text) => {
        const [, entry = "", path = ""] = line.exec(text) ?? []
        return [path, entry]
      })
    )
  }

  /** The size of all objects in bytes. */
  readonly size: Effect.Effect<number> = Effect.suspend(() => {
    const { directory } = this
    return Yield.run(function* () {
      let size = 0
      for (const part of namesIn(Path.join(directory, "objects"))) {
        yield
        const path = Path.join(directory, "objects", part)
        for (const name of namesIn(path)) size += lookAt(Buffer.from(Path.join(path, name)))?.size ?? 0
      }
      return size
    })
  })
}

const namesIn = (directory: string): ReadonlyArray<string> => Attempt.orElse(() => Fs.readdirSync(directory), [])
const nameOf = (bytes: string): Buffer => Buffer.from(bytes, "latin1")
const keyOf = (bytes: string): string => nameOf(bytes).toString("base64")
const within = (directory: string, path: string): Buffer => Buffer.concat([Buffer.from(`${directory}/`), nameOf(path)])
const lookAt = (path: Buffer): Fs.Stats | undefined => Attempt.orUndefined(() => Fs.lstatSync(path))
const split = (text: string): ReadonlyArray<string> => text.split("\0").filter((path) => path !== "")

/** The root of the surrounding repository, whose ignore rules apply, or the directory itself. */
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

const objectOf = (bytes: Buffer): Pick<Content, "content" | "id"> => {
  const content = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes])
  return { content, id: Crypto.createHash("sha1").update(content).digest("hex") }
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
  const { content, id } = objectOf(bytes)
  const mode = isLink ? "120000" : (stats.mode & 0o100) === 0 ? "100644" : "100755"
  return { content, entry: `${mode} ${id}`, id, mode: stats.mode & 0o777 }
}

/** The state of a directory at one moment, as git stores it. */
interface DirectoryState {
  /** The permission bits of files other than 644 and 755. */
  readonly modes: Readonly<Record<string, number>>
  readonly tree: Tree
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

/** The files of a directory, and those of them that are ignored. */
interface Listing {
  readonly present: ReadonlyArray<string>
  readonly ignored: ReadonlyArray<string>
  /** Why the listing is not complete. */
  readonly problem?: string
}

/** Lists files with git. `isKnown` is true if the listing is of use without new files. */
const listWithGit = (
  program: string,
  store: Store,
  cwd: string,
  isKnown: boolean
): Effect.Effect<Listing, NoSnapshot> =>
  Effect.gen(function* () {
    const directory = Path.join(store.directory, "git")
    const env = {
      HOME: store.directory,
      GIT_DIR: directory,
      GIT_WORK_TREE: rootOf(cwd),
      // Without an index, git lists all files as untracked. It then follows no links and enters no other repositories.
      GIT_INDEX_FILE: Path.join(directory, "none"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null"
    }
    const git = (...args: ReadonlyArray<string>) => output(program, args, { cwd, env })
    if (!Fs.existsSync(directory)) yield* git("init", "--quiet", "--template=")
    const others = ["ls-files", "-z", "--others"]
    const listed = yield* Effect.either(git(...others, "--exclude-standard"))
    // git hangs on a `.gitignore` that is a named pipe. Files known from earlier are kept all the same.
    if (Either.isLeft(listed) && (listed.left.message !== tookLong || !isKnown)) return yield* listed.left
    const rules = Either.isLeft(listed) ? "--exclude=*" : "--exclude-standard"
    const ignored = split(yield* git(...others, rules, "--ignored", "--directory"))
    return Either.isLeft(listed)
      ? { present: [], ignored, problem: `new files (${tookLong})` }
      : { present: split(listed.right), ignored }
  })

/** Lists files without git, so none is ignored. A repository within is listed as a directory. */
const listWithoutGit = (cwd: string): Effect.Effect<Listing> =>
  Effect.map(
    Yield.run(function* () {
      const present: Array<string> = []
      const directories = [""]
      for (let at = directories.pop(); at !== undefined && present.length <= limits.files; at = directories.pop()) {
        yield
        const directory = within(cwd, at)
        const entries = Attempt.orElse(() => Fs.readdirSync(directory, { encoding: "buffer", withFileTypes: true }), [])
        const names = entries.map((entry) => [entry.name.toString("latin1"), entry.isDirectory()] as const)
        if (at !== "" && names.some(([name]) => name === ".git")) present.push(at)
        else {
          for (const [name, isDirectory] of names.filter(([name]) => name !== ".git"))
            if (isDirectory) directories.push(`${at}${name}/`)
            else present.push(`${at}${name}`)
        }
      }
      return present
    }),
    (present) => ({ present, ignored: [] })
  )

/**
 * Keeps the directory's files, and returns its state.
 *
 * The run can change ignore rules, so they only decide about new files. Files kept earlier (`known`) are kept again.
 * Files skipped before the run do not count as new after it.
 */
const stateOf = (
  store: Store,
  { cwd }: Place,
  { git, isHidden }: { readonly git: string; readonly isHidden: (path: string) => boolean },
  known: Tree,
  before?: DirectoryState
): Effect.Effect<DirectoryState, NoSnapshot> =>
  Effect.gen(function* () {
    const listing = git === "" ? yield* listWithoutGit(cwd) : yield* listWithGit(git, store, cwd, known.size > 0)
    const { ignored, present, problem } = listing
    const unread = problem === undefined ? [] : [problem]
    const skipped = new Set(before?.skipped ?? ignored)
    const isSkipped = (path: string) => skipped.has(path) || around(path).some((directory) => skipped.has(directory))
    const seen = new Set(present.filter((path) => known.has(path) || !isSkipped(path)))
    const isThere = (path: string) =>
      seen.has(path) || around(path).every((directory) => lookAt(within(cwd, directory.slice(0, -1)))?.isDirectory())
    const paths = new Set([...seen, ...known.keys()])
    if (paths.size > limits.files) {
      return yield* new NoSnapshot({ message: `the directory has more than ${limits.files} files` })
    }
    const tree = new Map(known)
    const modes: Record<string, number> = {}
    let bytes = 0
    let large = 0
    yield* Yield.run(function* () {
      for (const path of paths) {
        yield
        const whole = within(cwd, path)
        const look = () => {
          const content = isHidden(whole.toString()) ? "hidden" : read(whole)
          if (typeof content === "object") store.keep(content)
          return content
        }
        const found = isThere(path) ? Attempt.orElse(look, "unread") : undefined
        if (typeof found !== "object") {
          if (found === "large") large++
          if (found === "unread") unread.push(nameOf(path).toString())
          // After the run, an existing file that can't be kept counts as unchanged.
          if (before === undefined || found === undefined || found === "other") tree.delete(path)
          if (before === undefined && found !== undefined) skipped.add(path)
        } else {
          bytes += found.content.length
          if (bytes > limits.bytes) return
          if (found.mode !== 0o644 && found.mode !== 0o755) modes[keyOf(path)] = found.mode
          tree.set(path, found.entry)
        }
      }
    })
    if (bytes > limits.bytes) {
      return yield* new NoSnapshot({ message: `the directory holds more than ${limits.bytes / 1024 ** 2} MiB` })
    }
    return { large, modes, skipped, unread: unread.slice(0, 20), tree }
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
const prune = (store: Store) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { directory } = store
    const around = Path.dirname(directory)
    for (const name of namesIn(around)) {
      const path = Path.join(around, name)
      const used = lookAt(Buffer.from(`${path}/turns`))?.mtimeMs ?? 0
      if (path !== directory && now - used > storeLimits.age) Fs.rmSync(path, { recursive: true, force: true })
    }
    for (const path of turnsOf(directory).slice(0, -storeLimits.turns)) Fs.rmSync(path, { force: true })
    if ((yield* store.size) > storeLimits.bytes) Fs.rmSync(directory, { recursive: true })
    Directories.make(Path.join(directory, "turns"))
  })

/**
 * Keeps a directory's state before a run, and returns an effect that keeps it after the run. It never fails: the turn
 * then records why it can't be undone.
 *
 * @param isHidden tests for files that commands can't read, which are not kept
 * @param git the path of git, or an empty text where there is none
 */
export const begin = (
  place: Place,
  session: string,
  isHidden: (path: string) => boolean,
  git = programOf("git") ?? ""
): Effect.Effect<{ readonly end: Effect.Effect<void> }> =>
  Effect.gen(function* () {
    const store = new Store(storeOf(place))
    const time = yield* Clock.currentTimeMillis
    const path = Path.join(store.directory, "turns", `${time}-${session}.json`)
    /** Holds the id of the last tree, whose files stay covered. */
    const covered = Path.join(store.directory, "covered")
    yield* prune(store)
    const known = Attempt.orElse((): Tree => store.tree(Fs.readFileSync(covered, "utf8")), new Map())
    const before = yield* Effect.either(stateOf(store, place, { git, isHidden }, known))
    const turn = { session, time, root: place.cwd }
    const keep = (turn: Turn) => Effect.sync(() => Attempt.ignore(() => write(path, turn)))
    const cover = (id: string) => Attempt.ignore(() => Fs.writeFileSync(covered, id, { mode: 0o600 }))
    if (before._tag === "Left") {
      // Ignore rules may exclude what was too much this time.
      Fs.rmSync(covered, { force: true })
      yield* keep({ ...turn, problem: before.left.message })
      return { end: Effect.void }
    }
    const { large, modes, unread } = before.right
    const tree = store.keepTree(before.right.tree)
    cover(tree)
    const begun = { ...turn, before: tree, large, modes, unread }
    yield* keep(begun)
    const end = Effect.gen(function* () {
      const after = yield* Effect.either(stateOf(store, place, { git, isHidden }, before.right.tree, before.right))
      if (after._tag === "Left") return yield* keep({ ...begun, problem: after.left.message })
      const id = store.keepTree(after.right.tree)
      cover(id)
      // A run without changes leaves the previous run to be undone.
      if (id === tree) return Attempt.ignore(() => Fs.rmSync(path))
      const left = {
        large: Math.max(large, after.right.large),
        unread: [...new Set([...unread, ...after.right.unread])]
      }
      yield* keep({ ...begun, ...left, after: id })
    })
    return { end: Effect.catchAllDefect(end, (defect) => Effect.logDebug("no snapshot", defect)) }
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
    const directory = storeOf(place)
    const path = turnsOf(directory).at(-1)
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
    const store = new Store(directory)
    const [old, now] = yield* Effect.try({
      try: () => [store.tree(before), store.tree(after)] as const,
      catch: () => refuse(`The files of the last turn (session ${session}) are gone.`)
    })
    const changes = [...new Set([...old.keys(), ...now.keys()])]
      .map((path): Change => ({ path, before: old.get(path), after: now.get(path) }))
      .filter((change) => change.before !== change.after)
      .sort((a, b) => (a.path < b.path ? -1 : 1))
    return {
      turn,
      changes,
      diff: Effect.map(
        Effect.forEach(changes, (change) => diffOf(store, change)),
        (texts) => nameOf(texts.join("")).toString()
      ),
      undo: Effect.gen(function* () {
        const outcomes: Array<Outcome> = []
        const isRemoval = ({ before }: Change) => before === undefined
        // Remove new files first: their directory may have replaced a file that comes back.
        for (const change of [...changes.filter(isRemoval).reverse(), ...changes.filter((one) => !isRemoval(one))]) {
          const { before } = change
          const state = Attempt.orElse(() => {
            const content = before === undefined ? Buffer.alloc(0) : store.read(idOf(before))
            return takeBack(root, change, content, turn.modes?.[keyOf(change.path)])
          }, "failed" as const)
          outcomes.push({ path: nameOf(change.path).toString(), state })
        }
        if (outcomes.every(({ state }) => state === "restored" || state === "removed")) Fs.rmSync(path)
        return outcomes
      })
    }
  })

const idOf = (entry: Entry): string => entry.slice("100644 ".length)
const modeOf = (entry: Entry): string => entry.slice(0, "100644".length)

/** Returns a change in the format of `git diff`. */
const diffOf = (store: Store, { after, before, path }: Change): Effect.Effect<string, NoSnapshot> =>
  Effect.acquireUseRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(store.directory, "diff-"))),
    (cwd) =>
      Effect.gen(function* () {
        for (const [name, entry] of [
          ["before", before],
          ["after", after]
        ] as const)
          Fs.writeFileSync(Path.join(cwd, name), entry === undefined ? "" : store.read(idOf(entry)))
        const named = (side: string) =>
          /["\\\0-\x1f\x7f]/.test(path) ? JSON.stringify(`${side}/${path}`) : `${side}/${path}`
        const modes =
          before === undefined
            ? `new file mode ${modeOf(after ?? "")}\n`
            : after === undefined
              ? `deleted file mode ${modeOf(before)}\n`
              : modeOf(before) === modeOf(after)
                ? ""
                : `old mode ${modeOf(before)}\nnew mode ${modeOf(after)}\n`
        const labels = [before === undefined ? "/dev/null" : named("a"), after === undefined ? "/dev/null" : named("b")]
        const args = ["-u", ...labels.flatMap((label) => ["-L", nameOf(label).toString()]), "before", "after"]
        const diff = programOf("diff")
        const text = diff === undefined ? "(no diff program)\n" : yield* output(diff, args, { cwd, differs: true })
        return `diff --git ${named("a")} ${named("b")}\n${modes}${text}`
      }),
    (cwd) => Effect.sync(() => Fs.rmSync(cwd, { recursive: true, force: true }))
  )

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
