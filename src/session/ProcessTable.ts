/**
 * Lists and inspects processes, to find those of a session.
 *
 * Reads `/proc` on Linux; elsewhere it runs `ps`, which is slow.
 */

import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Attempt from "../domain/Attempt.js"
import * as RandomText from "./RandomText.js"
import { sessionVariable } from "./ShellEnvironment.js"

/** The most processes that a walk visits. */
const most = 4096

/** Returns the pids below `root`, parents before their children. */
export const below = (root: number): ReadonlyArray<number> => {
  // Not every kernel lists the children of a process.
  if (mainChildren(process.pid) === undefined) return descendants(list(), root).map((one) => one.pid)
  const found = [root]
  for (let at = 0; at < found.length && at < most; at++) found.push(...children(found[at] as number))
  return found.slice(1)
}

/** Returns a process's pid in the innermost of its PID namespaces, which is how the process sees itself. */
export const innerPid = (pid: number): number => namespacePids(pid).at(-1) ?? pid

/** Finds the process nearest below `root` whose own view of its pid is `inner`. */
export const find = (root: number, inner: number): number | undefined =>
  below(root).find((pid) => innerPid(pid) === inner)

/** One buffer for all files, since they are read one at a time. */
const shared = Buffer.allocUnsafeSlow(16_384)

/** Reads a file with three system calls; `readFileSync` takes five. */
const text = (path: string): string | undefined =>
  Attempt.orUndefined(() => {
    const fd = Fs.openSync(path, "r")
    try {
      let text = ""
      for (let count = shared.length; count === shared.length; ) {
        count = Fs.readSync(fd, shared, 0, shared.length, null)
        text += shared.toString("latin1", 0, count)
      }
      return text
    } finally {
      Fs.closeSync(fd)
    }
  })

/** A process's `stat` on Linux. */
interface Stat extends Process {
  readonly state: string
  /** The CPU time used, in clock ticks. */
  readonly worked: number
}

/** Splits `stat` into fields from the state on. The name before may contain anything, even parentheses. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

export const stat = (pid: number): Stat | undefined => {
  const stat = text(`/proc/${pid}/stat`)
  return stat === undefined ? undefined : parseStat(stat)
}

/** SIGINT and SIGQUIT. A shell without job control starts background commands (`&`) with both ignored. */
const keyboard = 0b110n

export const isDeaf = (pid: number): boolean => {
  const ignored = /^SigIgn:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  return (BigInt(`0x${ignored ?? "0"}`) & keyboard) === keyboard
}

/** The bit of SIGKILL in a set of pending signals. */
const killed = 1n << BigInt(Os.constants.signals.SIGKILL - 1)

/** The kernel's flag for a process that is ending (PF_EXITING). */
const exiting = 0x4

/** Tests whether a process was killed by SIGKILL, even if it has not ended yet. */
export const isKilled = (pid: number): boolean => {
  const pending = /^SigPnd:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  if (pending !== undefined && (BigInt(`0x${pending}`) & killed) !== 0n) return true
  // After taking the signal, the process takes a while to end. Its exit code and flags already show it.
  const fields = fieldsOf(text(`/proc/${pid}/stat`) ?? "")
  const [flags, exitCode] = [Number(fields[6]), Number(fields[49])]
  const signal = exitCode & 127
  return signal === Os.constants.signals.SIGKILL || (flags & exiting) !== 0 || !isThere(pid)
}

/** Reads a process's name, which the process chooses itself. Unprintable characters become `?`. */
export const nameOf = (pid: number): string => (text(`/proc/${pid}/comm`) ?? "").trim().replaceAll(/[^ -~]/g, "?")

/** Matches the programs of shells that may fork for a command's `&`. */
const shells = /\/(ba|da|k|mk|z|a)?sh$/

/** Tests for a working shell, as a fork that has not become another program yet. A waiting shell sleeps. */
export const isForking = (pid: number): boolean => stat(pid)?.state === "R" && shells.test(exe(pid) ?? "")

const childrenOf = (pid: number, thread: number | string): ReadonlyArray<number> | undefined =>
  text(`/proc/${pid}/task/${thread}/children`)
    ?.split(" ")
    .flatMap((one) => (one === "" ? [] : Number(one)))

/**
 * Reads the children of a process's main thread in the order in which it got them, including children inherited from
 * ended processes. Returns undefined if the system does not list them.
 */
export const mainChildren = (pid: number): ReadonlyArray<number> | undefined => childrenOf(pid, pid)

/** Reads the children of all threads of a process. */
export const children = (pid: number): ReadonlyArray<number> =>
  (Attempt.orUndefined(() => Fs.readdirSync(`/proc/${pid}/task`)) ?? []).flatMap(
    (thread) => childrenOf(pid, thread) ?? []
  )

/** Reads a process's pids in all its PID namespaces, the innermost last. */
export const namespacePids = (pid: number): ReadonlyArray<number> =>
  /^NSpid:\s*(.*)$/m
    .exec(text(`/proc/${pid}/status`) ?? "")?.[1]
    ?.split(/\s+/)
    .map(Number) ?? []

const exe = (pid: number): string | undefined => Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${pid}/exe`))

/**
 * Tests whether a process is a fork of the shell that has not reset the shell's traps yet. SIGINT would take such a
 * fork back to the shell's main loop, where it would read the next commands as a second shell.
 *
 * A fork resets its traps after its handler of SIGINT, and the trap on SIGURG is always set while a command runs.
 */
export const isNascent = (pid: number, shell: number): boolean => {
  const caught = /^SigCgt:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  const bit = 1n << BigInt(Os.constants.signals.SIGURG - 1)
  return caught !== undefined && (BigInt(`0x${caught}`) & bit) !== 0n && exe(pid) === exe(shell)
}

/** Sends a signal. Does nothing if the process is gone. */
export const send = (pid: number, name: NodeJS.Signals): void => {
  // 0 means this process's own group, -1 means every process.
  if (Math.abs(pid) <= 1) return
  // The process is gone, or not ours to signal.
  Attempt.ignore(() => process.kill(pid, name))
}

/** Signals a whole process group at once, which reaches even processes that fork faster than they can be listed. */
export const sendToGroup = (group: number, name: NodeJS.Signals): void => {
  if (group > 1) send(-group, name)
}

/** The hexadecimal digits of a mark that identify the session. */
const sessionOf = (sessionId: string): string => `4${sessionId.slice(0, 7)}`

/** Makes a mark: a decimal number for the limit that carries it. */
export const make = (sessionId: string): string =>
  BigInt(`0x${sessionOf(sessionId)}${RandomText.make(4).slice(0, 7)}`).toString()

/** Makes bash text that marks everything after it. If a command has made that impossible, nothing is marked. */
export const set = (mark: string): string => `\\builtin ulimit -SR ${mark}||\\builtin :`

/** Returns a process's mark, or undefined if it has none or has ended. */
export const of = (pid: number): string | undefined =>
  /^Max realtime timeout +(\d{18})\b/m.exec(text(`/proc/${pid}/limits`) ?? "")?.[1]

/** Tests whether a mark belongs to a command of the session. */
export const isOfSession = (mark: string | undefined, sessionId: string): boolean =>
  mark !== undefined && BigInt(mark).toString(16).slice(0, 8) === sessionOf(sessionId)

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** The process session's id; `setsid` makes a new one. */
  readonly session: number
  /** The start time in clock ticks since boot on Linux; 0 elsewhere. */
  readonly started: number
}

/** Tests whether a process has ended. If only its first thread has, it looks like a zombie but still runs. */
const hasEnded = (fields: ReadonlyArray<string>): boolean =>
  fields[0] === "X" || (fields[0] === "Z" && !(Number(fields[17]) > 1))

/** Parses `pid (comm) state ppid pgrp session …`. Returns undefined for a process that has ended. */
const parseStat = (stat: string): Stat | undefined => {
  const fields = fieldsOf(stat)
  const [state = "", parent, group, session] = fields
  if (state === "" || hasEnded(fields)) return undefined
  return {
    pid: Number.parseInt(stat, 10),
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    worked: Number(fields[11]) + Number(fields[12]),
    started: Number(fields[19])
  }
}

/** Lists `/proc`; empty if no file descriptor is left. */
const namesInProc = (): ReadonlyArray<string> => Attempt.orUndefined(() => Fs.readdirSync("/proc")) ?? []

/** The most times that `/proc` is read for one list. */
const maxLooks = 20

/**
 * Lists each process in `/proc` once, except those that `isOlder` excludes. Reads `/proc` again if a process was gone
 * before it was read or `isThere` denies it, since it may have left a child.
 */
const fromProc = (
  isThere: (one: Process) => boolean = () => true,
  isOlder: (pid: number) => boolean = () => false
): Array<Process> => {
  const processes: Array<Process> = []
  const seen = new Set<string>()
  let isSure = false
  for (let looks = 0; looks < maxLooks && !isSure; looks++) {
    isSure = true
    for (const name of namesInProc()) {
      const first = name.charCodeAt(0)
      if (first < 48 || first > 57 || seen.has(name) || isOlder(Number(name))) continue
      seen.add(name)
      const stat = text(`/proc/${name}/stat`)
      const parsed = stat === undefined ? undefined : parseStat(stat)
      if (parsed === undefined || !isThere(parsed)) isSure = false
      if (parsed !== undefined) processes.push(parsed)
    }
  }
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

export const list = (): Array<Process> => (process.platform === "linux" ? fromProc() : fromPs())

export const isThere = (pid: number): boolean => {
  const stat = text(`/proc/${pid}/stat`)
  if (stat !== undefined) return parseStat(stat) !== undefined
  // If no descriptor is left to read `stat`, the directory tells.
  return process.platform !== "linux" || Fs.existsSync(`/proc/${pid}`)
}

/**
 * Lists the processes started at `since` (`ticksAt`) or later. Remembers the pids of older ones in `older`, so that
 * repeated calls are fast even with many processes.
 */
export const listSince = (since: number, older: Set<number>): Array<Process> => {
  if (process.platform !== "linux") return list().filter((one) => one.started >= since)
  const all = fromProc(
    (one) => {
      if (one.started < since) older.add(one.pid)
      return true
    },
    (pid) => older.has(pid)
  )
  return all.filter((one) => one.started >= since)
}

/** The most pids that may be given out while one list is made. */
const meanwhile = 1024

/**
 * Returns a function that tells whether a pid surely belongs to a process older than this call. The kernel gives out
 * pids in turn, so the number of new processes tells which pids may be new.
 */
export const countBirths = (): (() => (pid: number) => boolean) => {
  const count = () => ({
    all: Number(/^processes (\d+)$/m.exec(text("/proc/stat") ?? "")?.[1]),
    last: Number(text("/proc/loadavg")?.split(" ").at(-1))
  })
  const then = count()
  return () => {
    const now = count()
    const most = Number(text("/proc/sys/kernel/pid_max"))
    // A number that the system does not tell is NaN, for which the comparison is false.
    if (!(now.all - then.all < most / 2)) return () => false
    const young = ((now.last - then.last + most) % most) + meanwhile
    return (pid) => (pid - then.last - 1 + most) % most >= young
  }
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
 * Lists all processes of a session started at `since` (`ticksAt`) or later: the descendants of its shell and those
 * with the shell's process session. Daemons have left both, but carry the session's mark in their environment or
 * limits.
 *
 * `shell` is 0 if there is none. Processes that `isOlder` excludes (`countBirths`) are not inspected. A root-owned
 * program hides its environment from other users, but they could not signal it either.
 */
export const members = (
  shell: number,
  sessionId: string,
  since: number,
  isOlder?: (pid: number) => boolean
): Array<Process> => {
  const mark = `${sessionVariable}=${sessionId}\0`
  const marked = new Set<number>()
  const isThere = ({ pid, started }: Process): boolean => {
    if (started < since) return true
    if (text(`/proc/${pid}/environ`)?.includes(mark) === true || isOfSession(of(pid), sessionId)) {
      marked.add(pid)
      return true
    }
    return Fs.existsSync(`/proc/${pid}`)
  }
  const all = process.platform === "linux" ? fromProc(isThere, isOlder) : fromPs()
  const processes = all.filter((one) => one.pid !== process.pid && one.started >= since)
  // The kernel's own threads have parent and session 0.
  const found = new Map((shell > 0 ? descendants(processes, shell) : []).map((one) => [one.pid, one]))
  for (const one of processes) {
    if (one.pid === shell || (shell > 0 && one.session === shell) || marked.has(one.pid)) found.set(one.pid, one)
  }
  return [...found.values()]
}

/** Returns what a process's descriptor is open on, or undefined if the process is gone. */
const openOn = (pid: number, descriptor: number): string | undefined =>
  Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${pid}/fd/${descriptor}`))

/** Returns what a process's standard input is open on, or undefined if the process is gone. */
export const inputOf = (pid: number): string | undefined => openOn(pid, 0)

const isTerminal = (path: string | undefined): boolean => path !== undefined && /^\/dev\/(?:pts\/\d+|tty)$/.test(path)

/** Tests whether a process's standard input is a terminal. */
export const isOnTerminal = (pid: number): boolean => isTerminal(inputOf(pid))

/** System call numbers by architecture: `read`, and the variants of `select`, `poll` and `epoll`. */
const waitingCalls: Readonly<Record<string, readonly [read: string, others: ReadonlyArray<string>]>> = {
  arm64: ["63", ["72", "73", "22", "441"]],
  x64: ["0", ["7", "23", "232", "270", "271", "281", "441"]]
}

/** Tells what a process sleeps in: a read of a terminal or of its standard input, or a wait for several descriptors. */
export const waitOf = (pid: number): "terminal" | "input" | "select" | undefined => {
  const [read, others] = waitingCalls[process.arch] ?? []
  const [call, first] = (text(`/proc/${pid}/syscall`) ?? "").split(" ")
  if (call === read) {
    const descriptor = Number(first)
    if (isTerminal(openOn(pid, descriptor))) return "terminal"
    return descriptor === 0 ? "input" : undefined
  }
  return call !== undefined && others?.includes(call) === true ? "select" : undefined
}

export const isInForeground = (pid: number): boolean => {
  const [, , group, , , foreground] = fieldsOf(text(`/proc/${pid}/stat`) ?? "")
  return group !== undefined && group === foreground
}

/** Returns a process's directory, or an empty string if it is gone or unknown. */
export const cwdOf = (pid: number): string =>
  Attempt.orElse(() => {
    const cwd = Fs.readlinkSync(`/proc/${pid}/cwd`)
    return cwd.endsWith(" (deleted)") ? "" : cwd
  }, "")

/** How much too early `ticksAt` may be, in clock ticks: the kernel reports the uptime in whole ticks too. */
export const early = 2

/** Converts a `performance.now()` time to clock ticks since boot, rounded down so that later processes start later. */
export const ticksAt = (time: number): number => {
  // Read in this order, a pause in between makes the result too early, never too late.
  const uptime = Number.parseFloat(text("/proc/uptime") ?? "0")
  const ago = performance.now() - time
  // USER_HZ is 100 on every Linux that Node runs on.
  return Math.floor((uptime - ago / 1000) * 100)
}
