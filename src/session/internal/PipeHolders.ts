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
import * as ProcessFiles from "../ProcessFiles.js"
import * as ProcessTable from "../ProcessTable.js"

/**
 * The relation of a substitution to its command.
 *
 * `Fed`: nobody writes any more to what it reads. `Open`: somebody still does, such as a background child. `Unread`:
 * nobody reads what it writes. `Child`: started by another one.
 */
export type Relation = "Fed" | "Open" | "Unread" | "Child"

/** A process substitution of a command that is over. */
export interface Substitution {
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
export interface Holders {
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
  for (let pid = shell; pid > 0 && above.length < maxParents; pid = ProcessFiles.stat(pid)?.parent ?? 0) {
    above.push(pid)
    // The first process of a namespace gets all of its orphans.
    if (isNamespaced && ProcessFiles.namespacePids(pid).at(-1) === 1) break
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
      const pids = ProcessFiles.namespacePids(pid)
      const isNamespaced = pids.length > ownNamespaces()
      if (pids.at(-1) === innerPid) return parentsOf(pid, isNamespaced)
      if (pids.at(-1) === 1 && isNamespaced) first ??= pid
    }
    level = level.flatMap((pid) => ProcessFiles.mainChildren(pid) ?? []).slice(0, maxProcesses)
  }
  return parentsOf(first ?? process.pid, first !== undefined)
}

/** The number of PID namespaces that this process lies in. */
const ownNamespaces = () => Math.max(1, ProcessFiles.namespacePids(process.pid).length)

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

interface Look extends ProcessFiles.Stat {
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
const startedSince = (since: number, parents: ReadonlyArray<number>): ReadonlyMap<number, ProcessFiles.Stat> => {
  const found = new Map<number, ProcessFiles.Stat>()
  const known = knownOld.get(parents)
  const old = new Set<number>()
  const add = (pid: number): boolean => {
    const stat = found.size > maxProcesses || found.has(pid) ? undefined : ProcessFiles.stat(pid)
    if (stat === undefined) return true
    if (stat.started < since) return false
    found.set(pid, stat)
    const children = stat.threads > 1 ? ProcessFiles.children(pid) : ProcessFiles.mainChildren(pid)
    for (const child of children ?? []) add(child)
    return true
  }
  // The shell comes last: it may have many.
  for (const parent of parents.toReversed()) {
    let inRow = 0
    for (const child of (ProcessFiles.mainChildren(parent) ?? []).toReversed()) {
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
const allSince = (since: number): ReadonlyMap<number, ProcessFiles.Stat> => {
  const found = new Map<number, ProcessFiles.Stat>()
  for (const { pid } of ProcessTable.list()
    .filter((one) => one.started >= since)
    .slice(-maxProcesses)) {
    const stat = ProcessFiles.stat(pid)
    if (stat !== undefined) found.set(pid, stat)
  }
  return found
}

const isPipe = (file: string) => file.startsWith("pipe:[")

/** Looks at processes, with a limit on the descriptors of all of them. */
const looker = (paths: ReadonlyArray<string>) => {
  let left = maxDescriptors
  return (pid: number, stat: ProcessFiles.Stat): Look => {
    const { isDeaf, tableSize } = ProcessFiles.status(pid) ?? { isDeaf: false, tableSize: 0 }
    const which = !isDeaf && tableSize <= Math.max(left, leastTable) ? "all" : "standard"
    left -= tableSize
    const open = ProcessFiles.descriptors(pid, which, (file) => isPipe(file) || paths.includes(file))
    const pipes = open.filter((one) => isPipe(one.file))
    // A fork of bash has not moved the pipe to its standard input yet.
    const reads = pipes.filter((one) => !one.writes)
    const isFork = reads.length > 0 && reads[0]?.number !== 0 && ProcessFiles.isShell(pid)
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
  const where = ProcessFiles.waitsIn(pid)
  return where === "" || listening.test(where)
}

/** Tests for a job of a shell with job control; another parent than a shell has inherited the process. */
const hasOwnGroup = (one: Look, parent: Look | undefined): boolean =>
  parent !== undefined && parent.group !== one.group && ProcessFiles.isShell(parent.pid)

/**
 * Finds the processes started at `since` (`ProcessTable.ticksAt`) or later that hold one of the FIFOs, below the `parents`.
 */
export const find = (parents: ReadonlyArray<number>, since: number, paths: ReadonlyArray<string>): Holders => {
  const look = looker(paths)
  const hasChildren = ProcessFiles.mainChildren(process.pid) !== undefined
  const candidates = hasChildren ? startedSince(since, parents) : allSince(since)
  const looks = new Map([...candidates].map(([pid, stat]) => [pid, look(pid, stat)]))
  const holders = [...looks.values()].filter((one) => one.holds)
  if (holders.length === 0) return { pids: [], isSure: false, substitutions: [] }
  // The shell itself is older than its command, and may hold the other end (`exec 7> >(…)`).
  const older = new Map<number, Look>()
  for (const { parent } of holders) {
    const stat = looks.has(parent) || older.has(parent) || parent < 2 ? undefined : ProcessFiles.stat(parent)
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
      ProcessFiles.isForgetful(one.pid) || (parent !== undefined && parent.started <= one.started && isDoubtful(parent))
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
