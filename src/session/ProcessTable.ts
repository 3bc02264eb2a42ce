/**
 * Lists the processes of a session.
 *
 * On Linux it reads `/proc`; elsewhere it runs `ps`, which is slow.
 */

import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Attempt from "../domain/Attempt.js"
import { sessionVariable } from "./ShellEnvironment.js"

/** The most processes that a walk visits. */
const most = 4096

/** True where the kernel lists the children of a process. */
const isListed = (): boolean => mainChildren(process.pid) !== undefined

/** Returns the pids below `root`, parents before their children. */
export const below = (root: number): ReadonlyArray<number> => {
  if (!isListed()) return descendants(list(), root).map((one) => one.pid)
  const found = [root]
  for (let at = 0; at < found.length && at < most; at++) found.push(...children(found[at] as number))
  return found.slice(1)
}

/** Returns the pid that a process has for itself and its neighbours, in the innermost of its PID namespaces. */
export const innerPid = (pid: number): number => namespacePids(pid).at(-1) ?? pid

/** Finds the process nearest below `root` that calls itself `inner`. */
export const find = (root: number, inner: number): number | undefined =>
  below(root).find((pid) => innerPid(pid) === inner)

/** The buffer for all files: they are read one at a time. */
const shared = Buffer.allocUnsafeSlow(16_384)

/** Reads a file with three calls of the system, where `readFileSync` takes five. */
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

/** What a process's `stat` tells on Linux. */
interface Stat extends Process {
  readonly state: string
  /** The clock ticks that it has run for. */
  readonly worked: number
}

/** Splits a process's `stat` from its state on; the name before may hold anything, parentheses too. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

/** Reads a process's `stat`; undefined where it has ended. */
export const stat = (pid: number): Stat | undefined => {
  const stat = text(`/proc/${pid}/stat`)
  return stat === undefined ? undefined : parseStat(stat)
}

/** SIGINT and SIGQUIT: a shell without job control starts what `&` puts in the background with both ignored. */
const keyboard = 0b110n

/** Tests whether a process ignores the signals of the keyboard. */
export const isDeaf = (pid: number): boolean => {
  const ignored = /^SigIgn:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  return (BigInt(`0x${ignored ?? "0"}`) & keyboard) === keyboard
}

/** The bit of SIGKILL among signals that are sent and not taken. */
const killed = 1n << BigInt(Os.constants.signals.SIGKILL - 1)

/** The kernel's flag for a process that is ending. */
const exiting = 0x4

/** Tests whether a process was killed by SIGKILL, though it may not have ended yet. */
export const isKilled = (pid: number): boolean => {
  const pending = /^SigPnd:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  if (pending !== undefined && (BigInt(`0x${pending}`) & killed) !== 0n) return true
  // The process takes the signal some time before it counts as ended; its exit code and its flags tell meanwhile.
  const fields = fieldsOf(text(`/proc/${pid}/stat`) ?? "")
  const [flags, exitCode] = [Number(fields[6]), Number(fields[49])]
  const signal = exitCode & 127
  return signal === Os.constants.signals.SIGKILL || (flags & exiting) !== 0 || !isThere(pid)
}

/** Reads the name of a process, which it can choose; what is not printable is `?`. */
export const nameOf = (pid: number): string => (text(`/proc/${pid}/comm`) ?? "").trim().replaceAll(/[^ -~]/g, "?")

/** The names of shells that `&` of a command may come from. */
const shells = /\/(ba|da|k|mk|z|a)?sh$/

/** Tests for a shell that works: one in the background waits for its children, or has become another program. */
export const isForking = (pid: number): boolean => stat(pid)?.state === "R" && shells.test(exe(pid) ?? "")

const childrenOf = (pid: number, thread: number | string): ReadonlyArray<number> | undefined =>
  text(`/proc/${pid}/task/${thread}/children`)
    ?.split(" ")
    .flatMap((one) => (one === "" ? [] : Number(one)))

/**
 * Reads the pids of the children of a process's main thread, in the order in which it got them; undefined where the
 * system does not tell. They include those that it has got from a process that ended.
 */
export const mainChildren = (pid: number): ReadonlyArray<number> | undefined => childrenOf(pid, pid)

/** Reads the pids of the children of all of a process's threads. */
export const children = (pid: number): ReadonlyArray<number> =>
  (Attempt.orUndefined(() => Fs.readdirSync(`/proc/${pid}/task`)) ?? []).flatMap(
    (thread) => childrenOf(pid, thread) ?? []
  )

/** Reads a process's pids in the PID namespaces that it lies in, the innermost last. */
export const namespacePids = (pid: number): ReadonlyArray<number> =>
  /^NSpid:\s*(.*)$/m
    .exec(text(`/proc/${pid}/status`) ?? "")?.[1]
    ?.split(/\s+/)
    .map(Number) ?? []

const exe = (pid: number): string | undefined => Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${pid}/exe`))

/**
 * Tests whether a process is a fork of the shell that has not reset the shell's traps yet. SIGINT would take such a
 * fork back to the shell's main loop, where it would read the next commands as a second shell. A fork resets the traps
 * after its handler of SIGINT, and the trap on SIGURG is set whenever a command runs.
 */
export const isNascent = (pid: number, shell: number): boolean => {
  const caught = /^SigCgt:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`) ?? "")?.[1]
  const bit = 1n << BigInt(Os.constants.signals.SIGURG - 1)
  return caught !== undefined && (BigInt(`0x${caught}`) & bit) !== 0n && exe(pid) === exe(shell)
}

/** Sends a signal; ignores that the process is gone already. */
export const send = (pid: number, name: NodeJS.Signals): void => {
  // 0 is our own group, -1 is everybody.
  if (Math.abs(pid) <= 1) return
  // Gone, or no longer ours to signal.
  Attempt.ignore(() => process.kill(pid, name))
}

/** Signals a whole process group at once, which also reaches processes that fork faster than they can be listed. */
export const sendToGroup = (group: number, name: NodeJS.Signals): void => {
  if (group > 1) send(-group, name)
}

/** The hexadecimal digits of a mark that are the session's. */
const sessionOf = (sessionId: string): string => `4${sessionId.replaceAll("-", "").slice(0, 7)}`

/** Makes a mark, as the limit's decimal number. */
export const make = (sessionId: string): string =>
  BigInt(`0x${sessionOf(sessionId)}${Crypto.randomUUID().slice(0, 7)}`).toString()

/** Makes the shell text that marks what follows. Where a command has made the mark impossible, nothing is marked. */
export const set = (mark: string): string => `\\builtin ulimit -SR ${mark}||\\builtin :`

/** Returns the mark of a process; undefined where it has none, or has ended. */
export const of = (pid: number): string | undefined => {
  return /^Max realtime timeout +(\d{18})\b/m.exec(text(`/proc/${pid}/limits`) ?? "")?.[1]
}

/** Tests whether a mark is of one of the session's commands. */
export const isOfSession = (mark: string | undefined, sessionId: string): boolean =>
  mark !== undefined && BigInt(mark).toString(16).slice(0, 8) === sessionOf(sessionId)

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
 * Tests by the fields of a process's `stat` whether it has ended. One whose first thread has ended is a zombie by its
 * state, while its other threads run.
 */
const hasEnded = (fields: ReadonlyArray<string>): boolean =>
  fields[0] === "X" || (fields[0] === "Z" && !(Number(fields[17]) > 1))

/** Parses `pid (comm) state ppid pgrp session …`; undefined for a process that has ended. */
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

/** Lists `/proc`; empty where no descriptor is left for it. */
const namesInProc = (): ReadonlyArray<string> => Attempt.orUndefined(() => Fs.readdirSync("/proc")) ?? []

/** The most looks at `/proc` for one list. */
const maxLooks = 20

/**
 * Lists each process in `/proc` once, but for those of which `isOlder` is sure. Looks again at what is new where one is
 * gone before it was read, or `isThere` denies it: it may have left a child.
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

/** Lists all processes that have not ended. */
export const list = (): Array<Process> => (process.platform === "linux" ? fromProc() : fromPs())

/** Tests whether a process has not ended. */
export const isThere = (pid: number): boolean => {
  const stat = text(`/proc/${pid}/stat`)
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
  const all = fromProc(
    (one) => {
      if (one.started < since) older.add(one.pid)
      return true
    },
    (pid) => older.has(pid)
  )
  return all.filter((one) => one.started >= since)
}

/** The most pids that are given while one list is made. */
const meanwhile = 1024

/**
 * Remembers how far the kernel has counted its processes. The function that it returns counts again, and returns whether
 * a pid is surely that of an older process: the kernel gives pids in turn.
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
    // Of NaN, which stands for what the system does not tell, nothing is true.
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
 * Returns all processes of a session: the descendants of its shell, and those with the shell's session id. Daemons have
 * left both; they carry the session's mark in their environment, or a mark of its commands.
 * Only those started at `since` (`ticksAt`) or later count. `shell` is 0 where there is none. The environment of a
 * root-owned program can't be read by others, who could not send it signals either. Those of which `isOlder` is sure
 * (`countBirths`) are not looked at.
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
  // The kernel's own threads have 0 for parent and session.
  const found = new Map((shell > 0 ? descendants(processes, shell) : []).map((one) => [one.pid, one]))
  for (const one of processes) {
    if (one.pid === shell || (shell > 0 && one.session === shell) || marked.has(one.pid)) found.set(one.pid, one)
  }
  return [...found.values()]
}

/** Returns the name of the file that is a process's standard input; undefined where the process is gone. */
export const inputOf = (pid: number): string | undefined =>
  Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${pid}/fd/0`))

/** The numbers of the system calls `read`, and `select`, `poll` and `epoll` in their forms, by the architecture. */
const waitingCalls: Readonly<Record<string, readonly [read: string, others: ReadonlyArray<string>]>> = {
  arm64: ["63", ["72", "73", "22", "441"]],
  x64: ["0", ["7", "23", "232", "270", "271", "281", "441"]]
}

/** Tells what a process sleeps in: a read of its standard input, or a wait for any of several descriptors. */
export const waitOf = (pid: number): "read" | "select" | undefined => {
  const [read, others] = waitingCalls[process.arch] ?? []
  const [call, first] = (text(`/proc/${pid}/syscall`) ?? "").split(" ")
  if (call === read && first === "0x0") return "read"
  return call !== undefined && others?.includes(call) === true ? "select" : undefined
}

/** Tests whether a process is in the foreground of its terminal. */
export const isInForeground = (pid: number): boolean => {
  const [, , group, , , foreground] = fieldsOf(text(`/proc/${pid}/stat`) ?? "")
  return group !== undefined && group === foreground
}

/** Returns the directory of a process; empty where it is gone, or can't be known. */
export const cwdOf = (pid: number): string =>
  Attempt.orElse(() => {
    const cwd = Fs.readlinkSync(`/proc/${pid}/cwd`)
    return cwd.endsWith(" (deleted)") ? "" : cwd
  }, "")

/** The clock ticks by which `ticksAt` may be too early: the kernel tells the uptime in whole ticks too. */
export const early = 2

/**
 * Converts a time of `performance.now()` to clock ticks since boot, rounded down: a process that starts later has at
 * least this start time.
 */
export const ticksAt = (time: number): number => {
  // In this order: a pause of this process in between makes the result too early, never too late.
  const uptime = Number.parseFloat(text("/proc/uptime") ?? "0")
  const ago = performance.now() - time
  // USER_HZ is 100 on every Linux that Node runs on.
  return Math.floor((uptime - ago / 1000) * 100)
}
