/**
 * Lists the processes of a session.
 *
 * On Linux it reads `/proc`; elsewhere it runs `ps`, which is slow.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as CommandMark from "./internal/CommandMark.js"
import { sessionVariable } from "./ShellEnvironment.js"

/** A process, as the kernel lists it. */
export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** The session id; `setsid` makes a new one. */
  readonly session: number
  /** The start time in clock ticks since boot on Linux; 0 elsewhere. */
  readonly started: number
}

/**
 * Tests by the fields of a process's `stat`, from its state on, whether it has ended. One whose first thread has ended is
 * a zombie by its state, while its other threads run.
 */
export const hasEnded = (fields: ReadonlyArray<string>): boolean =>
  fields[0] === "X" || (fields[0] === "Z" && !(Number(fields[17]) > 1))

/** Parses `pid (comm) state ppid pgrp session …`; comm may hold anything, parentheses too. */
const parseStat = (stat: string): Process | undefined => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  if (hasEnded(fields)) return undefined
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started: Number(fields[19])
  }
}

const readText = (path: string): string | undefined => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return undefined
  }
}

/** Lists `/proc`; empty where no descriptor is left for it. */
const namesInProc = (): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync("/proc")
  } catch {
    return []
  }
}

/** The most looks at `/proc` for one list. */
const maxLooks = 20

/**
 * Calls `look` with each process once, but for those that are known by their names. Looks again at what is new where a
 * process is gone before it was read, or `look` returns false for one: it may have left a child.
 */
const eachInProc = (isKnown: (name: string) => boolean, look: (one: Process) => boolean): void => {
  const seen = new Set<string>()
  let isSure = false
  for (let looks = 0; looks < maxLooks && !isSure; looks++) {
    isSure = true
    for (const name of namesInProc()) {
      const first = name.charCodeAt(0)
      if (first < 48 || first > 57 || seen.has(name) || isKnown(name)) continue
      seen.add(name)
      const stat = readText(`/proc/${name}/stat`)
      const parsed = stat === undefined ? undefined : parseStat(stat)
      if (parsed === undefined || !look(parsed)) isSure = false
    }
  }
}

const fromProc = (isThere: (one: Process) => boolean = () => true): Array<Process> => {
  const processes: Array<Process> = []
  eachInProc(
    () => false,
    (one) => {
      processes.push(one)
      return isThere(one)
    }
  )
  return processes
}

const fromPs = (): Array<Process> => {
  const { stdout } = ChildProcess.spawnSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,sess=,stat="], { encoding: "latin1" })
  return (stdout ?? "").split("\n").flatMap((line) => {
    const [pid, parent, group, session, state] = line.trim().split(/\s+/)
    return pid === undefined || pid === "" || state?.startsWith("Z") === true
      ? []
      : [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(session), started: 0 }]
  })
}

/** Lists all processes that have not ended. */
export const list = (): Array<Process> => (process.platform === "linux" ? fromProc() : fromPs())

/** Tests whether a process has not ended. */
export const isThere = (pid: number): boolean => {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat !== undefined) return parseStat(stat) !== undefined
  // Where no descriptor is left to read it, it is there all the same.
  return process.platform !== "linux" || Fs.existsSync(`/proc/${pid}`)
}

/**
 * Lists the processes that were started at `since` (`ticksAt`) or later. `older` takes the pids of the others, which are
 * not looked at again: looks that follow soon take little time, however many processes there are.
 */
export const listSince = (since: number, older: Set<number>): Array<Process> => {
  if (process.platform !== "linux") return list().filter((one) => one.started >= since)
  const processes: Array<Process> = []
  eachInProc(
    (name) => older.has(Number(name)),
    (one) => {
      if (one.started >= since) processes.push(one)
      else older.add(one.pid)
      return true
    }
  )
  return processes
}

/** Returns the processes below `root`, parents before their children. */
export const descendants = (processes: ReadonlyArray<Process>, root: number): Array<Process> => {
  const found: Array<Process> = []
  const parents = [root]
  for (let next = parents.pop(); next !== undefined; next = parents.pop()) {
    for (const child of processes) {
      if (child.parent === next) {
        found.push(child)
        parents.push(child.pid)
      }
    }
  }
  return found
}

/**
 * Returns all processes of a session: the descendants of its shell, those with the shell's session id, and those that
 * carry the session's mark in their environment or a mark of its commands (daemons, which have left the first two).
 * Only those started at `since` (`ticksAt`) or later count. `shell` is 0 where there is none. The environment of a
 * root-owned program can't be read by others, who could not send it signals either.
 */
export const members = (shell: number, sessionId: string, since: number): Array<Process> => {
  const mark = `${sessionVariable}=${sessionId}\0`
  const marked = new Set<number>()
  const isThere = ({ pid, started }: Process): boolean => {
    if (started < since) return true
    if (
      readText(`/proc/${pid}/environ`)?.includes(mark) === true ||
      CommandMark.isOfSession(CommandMark.of(pid), sessionId)
    ) {
      marked.add(pid)
      return true
    }
    return Fs.existsSync(`/proc/${pid}`)
  }
  const all = process.platform === "linux" ? fromProc(isThere) : fromPs()
  const processes = all.filter((one) => one.pid !== process.pid && one.started >= since)
  // The kernel's own threads have 0 for parent and session.
  const found = new Map((shell > 0 ? descendants(processes, shell) : []).map((one) => [one.pid, one]))
  for (const one of processes) {
    if (one.pid === shell || (shell > 0 && one.session === shell) || marked.has(one.pid)) found.set(one.pid, one)
  }
  return [...found.values()]
}

/**
 * Returns the pid, in this process's PID namespace, of the shell that calls itself `innerPid`: the spawned process
 * itself, or the one below it (`bwrap`, `timeout`, `env`) whose innermost pid that is.
 */
export const resolve = (spawned: number, innerPid: number): number => {
  if (spawned === innerPid) return spawned
  for (const one of descendants(list(), spawned)) {
    const pids = /^NSpid:\s*(.*)$/m.exec(readText(`/proc/${one.pid}/status`) ?? "")?.[1]?.split(/\s+/)
    if (pids === undefined ? one.pid === innerPid : Number(pids.at(-1)) === innerPid) return one.pid
  }
  return spawned
}

/** Returns the directory of a process; empty where it is gone, or can't be known. */
export const cwdOf = (pid: number): string => {
  try {
    const cwd = Fs.readlinkSync(`/proc/${pid}/cwd`)
    return cwd.endsWith(" (deleted)") ? "" : cwd
  } catch {
    return ""
  }
}

/** The clock ticks by which `ticksAt` may be too early: the kernel tells the uptime in whole ticks too. */
export const early = 2

/**
 * Converts a time of `performance.now()` to clock ticks since boot, rounded down: a process that starts later has at
 * least this start time.
 */
export const ticksAt = (time: number): number => {
  // In this order: a pause of this process in between makes the result too early, never too late.
  const uptime = Number.parseFloat(readText("/proc/uptime") ?? "0")
  const ago = performance.now() - time
  // USER_HZ is 100 on every Linux that Node runs on.
  return Math.floor((uptime - ago / 1000) * 100)
}
