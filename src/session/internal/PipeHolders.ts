/**
 * Finds who still holds the pipes of a command's output when the command is over: its process substitutions, whose
 * output belongs to its result, and what it has put in the background.
 *
 * bash keeps no list of the former, so they are told by what they hold and where they come from:
 *
 * - What `&` has put in the background ignores SIGINT and SIGQUIT, or with `set -m` has a process group of its own.
 *   `setsid` makes a session. The children of such a process belong to it.
 * - A substitution reads from a pipe (`>( )`) or writes to one (`<( )`) whose other end the command has held.
 */
import * as GlobalValue from "effect/GlobalValue"
import * as ProcessTable from "../ProcessTable.js"

/** The FIFOs of the command that is over. */
interface HeldPipes {
  /** The paths of the FIFOs. */
  readonly paths: ReadonlyArray<string>
  /** Reads all that they hold; returns whether a process still holds one for writing. */
  readonly drain: () => boolean
  /** Reads as it comes, until the next `drain`; calls `ended` once nobody writes to one of them any more. */
  readonly follow: (ended: () => void) => void
}

/** Milliseconds between two looks at who holds the pipes: the shortest, and the longest. */
const firstPause = 1
const longestPause = 100

/** Milliseconds to wait where no system tells who holds the pipes. */
const blindGrace = 50

/** Milliseconds after which what can't be killed is left alone. */
const longestKill = 1000

/**
 * Milliseconds that a shell which has just forked for a background process may take until it has redirected its output
 * elsewhere (`server >log 2>&1 &`).
 */
const forkingTime = 100

/** Tests for a shell that works: one in the background waits for its children, or has become another program. */
const isForking = (pid: number): boolean => ProcessTable.stat(pid)?.state === "R" && ProcessTable.isShell(pid)

/** The looks that must find no substitution where it is not sure what holds a pipe, such as a process that ends. */
const looks = 3

/**
 * Returns the milliseconds that a substitution may do nothing before it counts as a background process. Some never end
 * though nobody needs them any more: `grep -m1 x < <(tail -f log)`, `echo yes | a-server-of-its-own &`.
 */
const patience = ({ isListening, relation }: Substitution): number => {
  if (relation === "Unread") return isListening ? 20 : 2000
  return isListening ? 2000 : Number.POSITIVE_INFINITY
}

/** Milliseconds that one may take which could as well be a background process. */
const doubtfulTime = 2000

/** Milliseconds that one which others still write to may take to read what the command has written. */
const readingTime = 1000

interface Seen {
  readonly at: number
  /** The work that it had done when it was seen first after its last work, and when that was. */
  readonly worked: number
  readonly restsSince: number
}

/** The wait for the process substitutions of one command. */
export class Substitutions {
  /** When `stop` gives up. */
  private killUntil: number | undefined
  private wake: () => void = () => {}
  private readonly seen = new Map<number, Seen>()

  constructor(
    private readonly pipes: HeldPipes,
    /** The processes that may have started them (`PipeHolders.parents`). */
    private readonly parents: ReadonlyArray<number>,
    private readonly startedAt: number
  ) {}

  /** Kills all that the command has left, and ends the wait once it is gone. */
  stop(): void {
    this.killUntil ??= performance.now() + longestKill
    this.wake()
  }

  /** Waits until no substitution writes any more; returns whether another process still holds the pipes. */
  async end(): Promise<boolean> {
    const blindUntil = process.platform === "linux" ? 0 : performance.now() + blindGrace
    const forkingUntil = performance.now() + forkingTime
    let without = 0
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      const holders = this.look()
      const isHeld = this.pipes.drain()
      if (!isHeld) return false
      const awaited = holders.substitutions.filter((one) => this.isAwaited(one))
      without = awaited.length > 0 ? 0 : without + 1
      if (this.killUntil === undefined) {
        const isSettled = performance.now() >= forkingUntil || !holders.pids.some(isForking)
        const isFound = isSettled && (without >= looks || (without > 0 && holders.isSure))
        if (isFound && performance.now() >= blindUntil) return true
      } else {
        if (holders.pids.length === 0 || performance.now() > this.killUntil) return true
        for (const pid of holders.pids) ProcessTable.send(pid, "SIGKILL")
        pause = firstPause
      }
      await this.pause(pause)
    }
  }

  private look(): Holders {
    const since = ProcessTable.ticksAt(this.startedAt)
    const paths = this.pipes.paths.flatMap((path) => [path, `${path} (deleted)`])
    return find(this.parents, since, paths)
  }

  private isAwaited(one: Substitution): boolean {
    const now = performance.now()
    const last = this.seen.get(one.pid) ?? { at: now, worked: one.worked, restsSince: now }
    const seen = last.worked === one.worked ? last : { ...last, worked: one.worked, restsSince: now }
    this.seen.set(one.pid, seen)
    if (one.isDoubtful && now - seen.at >= doubtfulTime) return false
    if (one.relation === "Open") return !one.isListening && now - seen.at < readingTime
    return now - seen.restsSince < patience(one)
  }

  private async pause(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.wake = resolve
      timer = setTimeout(resolve, milliseconds)
      this.pipes.follow(resolve)
    })
    clearTimeout(timer)
  }
}

/**
 * The relation of a substitution to its command.
 *
 * `Fed`: nobody writes any more to what it reads. `Open`: somebody still does, such as a background child. `Unread`:
 * nobody reads what it writes. `Child`: started by another one.
 */
type Relation = "Fed" | "Open" | "Unread" | "Child"

/** A process substitution of a command that is over. */
interface Substitution {
  readonly pid: number
  readonly relation: Relation
  /** True where it waits for input or for events; false where it works, sleeps or waits for a child. */
  readonly isListening: boolean
  /** True where it could as well be in the background: it, or a process above it, has forgotten what it ignored. */
  readonly isDoubtful: boolean
  /** The clock ticks that it has run for. */
  readonly worked: number
}

/** The processes that hold the pipes of a command. */
interface Holders {
  readonly pids: ReadonlyArray<number>
  /** True where each is known to be a substitution or in the background: one that begins or ends looks like neither. */
  readonly isSure: boolean
  readonly substitutions: ReadonlyArray<Substitution>
}

/**
 * Lists the processes whose children a command may have started: the shell, and those above it, one of which gets the
 * children of a process that ends.
 */
const parentsOf = (shell: number, isNamespaced: boolean): ReadonlyArray<number> => {
  const above: Array<number> = []
  for (let pid = shell; pid > 0 && above.length < maxParents; pid = ProcessTable.stat(pid)?.parent ?? 0) {
    above.push(pid)
    // The first process of a namespace gets all of its orphans.
    if (isNamespaced && ProcessTable.namespacePids(pid).at(-1) === 1) break
  }
  return above
}

/**
 * Finds the parents of what a command starts: the shell, which calls itself `innerPid` and is the spawned process or one
 * below it, and those that get the children of processes that end. Where the shell has ended, the latter only.
 */
export const parents = (spawned: number, innerPid: number): ReadonlyArray<number> => {
  const outermost: ReadonlyArray<number> = [spawned]
  let first: number | undefined
  for (let level = outermost, depth = 0; level.length > 0 && depth < maxWrappers; depth++) {
    for (const pid of level) {
      const pids = ProcessTable.namespacePids(pid)
      const isNamespaced = pids.length > ownNamespaces()
      if (pids.at(-1) === innerPid) return parentsOf(pid, isNamespaced)
      if (pids.at(-1) === 1 && isNamespaced) first ??= pid
    }
    level = level.flatMap((pid) => ProcessTable.mainChildren(pid) ?? []).slice(0, maxProcesses)
  }
  return parentsOf(first ?? process.pid, first !== undefined)
}

/** The number of PID namespaces that this process lies in. */
const ownNamespaces = () => Math.max(1, ProcessTable.namespacePids(process.pid).length)

/** The most programs that wrap a shell (`env`, `timeout`, `bwrap`), and the most processes above it. */
const maxWrappers = 16
const maxParents = 64

/** The most processes that are looked at, and the most descriptors of all of them: who has more is in the background. */
const maxProcesses = 256
const maxDescriptors = 4096

/** The size of the smallest table of descriptors, which is always looked at. */
const leastTable = 64

/** The number of old children after which no new one is expected: the kernel appends those that it hands on. */
const maxOld = 8

interface Look extends ProcessTable.Stat {
  readonly pid: number
  readonly holds: boolean
  readonly isDeaf: boolean
  /** The anonymous pipes that it reads from and writes to. */
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
  readonly stdin: string | undefined
  readonly stdout: string | undefined
}

/** The children of the parents that were too old at the last look: a pid is not used again that soon. */
const knownOld = GlobalValue.globalValue(
  "synapse/PipeHolders/knownOld",
  () => new WeakMap<ReadonlyArray<number>, ReadonlySet<number>>()
)

/** Lists the processes that were started since, below the parents. */
const startedSince = (since: number, parents: ReadonlyArray<number>): ReadonlyMap<number, ProcessTable.Stat> => {
  const found = new Map<number, ProcessTable.Stat>()
  const known = knownOld.get(parents)
  const old = new Set<number>()
  const add = (pid: number): boolean => {
    const stat = found.size > maxProcesses || found.has(pid) ? undefined : ProcessTable.stat(pid)
    if (stat === undefined) return true
    if (stat.started < since) return false
    found.set(pid, stat)
    const children = stat.threads > 1 ? ProcessTable.children(pid) : ProcessTable.mainChildren(pid)
    for (const child of children ?? []) add(child)
    return true
  }
  // The shell comes last: it may have many.
  for (const parent of parents.toReversed()) {
    let inRow = 0
    for (const child of (ProcessTable.mainChildren(parent) ?? []).toReversed()) {
      const isOld = parents.includes(child) || known?.has(child) === true || !add(child)
      inRow = isOld ? inRow + 1 : 0
      if (isOld) old.add(child)
      if (inRow > maxOld) break
    }
  }
  knownOld.set(parents, old)
  return found
}

/** The same, where the system does not tell the children of a process. */
const allSince = (since: number): ReadonlyMap<number, ProcessTable.Stat> => {
  const found = new Map<number, ProcessTable.Stat>()
  for (const { pid } of ProcessTable.list()
    .filter((one) => one.started >= since)
    .slice(-maxProcesses)) {
    const stat = ProcessTable.stat(pid)
    if (stat !== undefined) found.set(pid, stat)
  }
  return found
}

const isPipe = (file: string) => file.startsWith("pipe:[")

/** Looks at processes, with a limit on the descriptors of all of them. */
const looker = (paths: ReadonlyArray<string>) => {
  let left = maxDescriptors
  return (pid: number, stat: ProcessTable.Stat): Look => {
    const { isDeaf, tableSize } = ProcessTable.signalsOf(pid) ?? { isDeaf: false, tableSize: 0 }
    const which = !isDeaf && tableSize <= Math.max(left, leastTable) ? "all" : "standard"
    left -= tableSize
    const open = ProcessTable.descriptors(pid, which, (file) => isPipe(file) || paths.includes(file))
    const pipes = open.filter((one) => isPipe(one.file))
    // A fork of bash has not moved the pipe to its standard input yet.
    const reads = pipes.filter((one) => !one.writes)
    const isFork = reads.length > 0 && reads[0]?.number !== 0 && ProcessTable.isShell(pid)
    return {
      ...stat,
      pid,
      holds: open.some((one) => one.writes && !isPipe(one.file)),
      isDeaf,
      reads: new Set(reads.map((one) => one.file)),
      writes: new Set(pipes.filter((one) => one.writes).map((one) => one.file)),
      stdin: (isFork ? reads : reads.filter((one) => one.number === 0))[0]?.file,
      stdout: pipes.find((one) => one.number === 1 && one.writes)?.file
    }
  }
}

/** The names of the kernel's functions in which a process waits for input or for events. */
const listening = /pipe_read|pipe_wait|poll|select|inotify/

const isListening = ({ pid, state }: Look): boolean => {
  if (state !== "S") return false
  const where = ProcessTable.waitsIn(pid)
  return where === "" || listening.test(where)
}

/** Tests for a job of a shell with job control; another parent than a shell has inherited the process. */
const hasOwnGroup = (one: Look, parent: Look | undefined): boolean =>
  parent !== undefined && parent.group !== one.group && ProcessTable.isShell(parent.pid)

/**
 * Finds the processes started at `since` (`ProcessTable.ticksAt`) or later that hold one of the FIFOs, below the `parents`.
 */
export const find = (parents: ReadonlyArray<number>, since: number, paths: ReadonlyArray<string>): Holders => {
  const look = looker(paths)
  const hasChildren = ProcessTable.mainChildren(process.pid) !== undefined
  const candidates = hasChildren ? startedSince(since, parents) : allSince(since)
  const looks = new Map([...candidates].map(([pid, stat]) => [pid, look(pid, stat)]))
  const holders = [...looks.values()].filter((one) => one.holds)
  if (holders.length === 0) return { pids: [], isSure: false, substitutions: [] }
  // The shell itself is older than its command, and may hold the other end (`exec 7> >(…)`).
  const older = new Map<number, Look>()
  for (const { parent } of holders) {
    const stat = looks.has(parent) || older.has(parent) || parent < 2 ? undefined : ProcessTable.stat(parent)
    if (stat !== undefined) older.set(parent, look(parent, stat))
  }
  const all = [...looks.values(), ...older.values()]
  const others = (pipe: string, own: number, end: "reads" | "writes") =>
    all.some((one) => one.pid !== own && one[end].has(pipe))

  const isBackground = (one: Look): boolean => {
    const parent = looks.get(one.parent)
    if (one.isDeaf || one.session === one.pid || hasOwnGroup(one, parent ?? older.get(one.parent))) return true
    return parent !== undefined && parent.started <= one.started && isBackground(parent)
  }
  const isDoubtful = (one: Look): boolean => {
    const parent = looks.get(one.parent)
    return (
      ProcessTable.isForgetful(one.pid) || (parent !== undefined && parent.started <= one.started && isDoubtful(parent))
    )
  }
  const relation = (one: Look): Relation | undefined => {
    if (one.stdin !== undefined) return others(one.stdin, one.pid, "writes") ? "Open" : "Fed"
    if (one.stdout !== undefined && !others(one.stdout, one.pid, "reads")) return "Unread"
    const parent = looks.get(one.parent)
    return parent !== undefined && parent.started <= one.started && relation(parent) !== undefined ? "Child" : undefined
  }
  let isSure = true
  const substitutions = holders.flatMap((one) => {
    if (isBackground(one)) return []
    const related = relation(one)
    if (related === undefined) isSure = false
    return related === undefined
      ? []
      : {
          pid: one.pid,
          relation: related,
          isListening: isListening(one),
          isDoubtful: isDoubtful(one),
          worked: one.worked
        }
  })
  return { pids: holders.map((one) => one.pid), isSure, substitutions }
}
