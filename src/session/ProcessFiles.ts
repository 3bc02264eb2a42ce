/**
 * Reads what Linux tells of a process in `/proc`: its family, the signals that it ignores, its open pipes. A process that
 * has ended or can't be read gives nothing.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as ProcessTable from "./ProcessTable.js"

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The buffer for all files: they are read one at a time. */
const shared = Buffer.allocUnsafeSlow(16_384)

/** Reads a file with three calls of the system, where `readFileSync` takes five. */
const text = (path: string): string | undefined =>
  attempt(() => {
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

/** The fields of a process's `stat` that tell where it comes from and whether it works. */
export interface Stat {
  readonly state: string
  readonly parent: number
  readonly group: number
  /** The session id; `setsid` makes a new one. */
  readonly session: number
  /** The clock ticks that it has run for. */
  readonly worked: number
  readonly threads: number
  /** The start time in clock ticks since boot. */
  readonly started: number
}

/** Reads the fields of a process's `stat`, from its state on; the name before may hold anything, parentheses too. */
const fieldsOf = (pid: number): ReadonlyArray<string> => {
  const line = text(`/proc/${pid}/stat`)
  return line?.slice(line.lastIndexOf(")") + 2).split(" ") ?? []
}

/** Reads a process's `stat`; undefined where it has ended. */
export const stat = (pid: number): Stat | undefined => {
  const fields = fieldsOf(pid)
  const [state = "", parent, group, session] = fields
  if (state === "" || ProcessTable.hasEnded(fields)) return undefined
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    worked: Number(fields[11]) + Number(fields[12]),
    threads: Number(fields[17]),
    started: Number(fields[19])
  }
}

/** SIGINT and SIGQUIT: a shell without job control starts what `&` puts in the background with both ignored. */
const keyboard = 0b110n

/** Reads whether a process ignores the signals of the keyboard, and the size of its table of descriptors. */
export const status = (pid: number): { readonly isDeaf: boolean; readonly tableSize: number } | undefined => {
  const status = text(`/proc/${pid}/status`)
  if (status === undefined) return undefined
  const ignored = BigInt(`0x${/^SigIgn:\s*(\S+)$/m.exec(status)?.[1] ?? "0"}`)
  return { isDeaf: (ignored & keyboard) === keyboard, tableSize: Number(/^FDSize:\s*(\d+)$/m.exec(status)?.[1] ?? 0) }
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
  const fields = fieldsOf(pid)
  const [flags, exitCode] = [Number(fields[6]), Number(fields[49])]
  const signal = exitCode & 127
  return signal === Os.constants.signals.SIGKILL || (flags & exiting) !== 0 || !ProcessTable.isThere(pid)
}

/** Reads the name of the kernel's function that a sleeping process waits in; empty where the system does not tell. */
export const waitsIn = (pid: number): string => {
  const name = text(`/proc/${pid}/wchan`) ?? ""
  return name === "0" ? "" : name
}

/** Reads the name of a process, which it can choose; what is not printable is `?`. */
export const name = (pid: number): string => (text(`/proc/${pid}/comm`) ?? "").trim().replaceAll(/[^ -~]/g, "?")

const program = (pid: number): string => attempt(() => Fs.readlinkSync(`/proc/${pid}/exe`)) ?? ""

/** The names of shells that `&` of a command may come from. */
const shells = /\/(ba|da|k|mk|z|a)?sh$/

/** Tests whether a process runs a shell. */
export const isShell = (pid: number): boolean => shells.test(program(pid))

/** Programs that stop ignoring SIGINT and SIGQUIT when they start. */
const forgetful = /\/(node|nodejs|bun|deno|electron)$/

/** Tests whether a process runs a program that does not keep ignoring the signals of the keyboard. */
export const isForgetful = (pid: number): boolean => forgetful.test(program(pid))

/** A descriptor of a process: the file, as `/proc` names it, and whether it is open for writing. */
export interface Descriptor {
  readonly number: number
  readonly file: string
  readonly writes: boolean
}

const descriptor = (pid: number, number: string, isWanted: (file: string) => boolean): Descriptor | undefined =>
  attempt(() => {
    const path = `/proc/${pid}/fd/${number}`
    const file = Fs.readlinkSync(path)
    // The modes of the link are those that the file was opened with.
    return isWanted(file)
      ? { number: Number(number), file, writes: (Fs.lstatSync(path).mode & 0o200) !== 0 }
      : undefined
  })

/** Reads a process's descriptors for files whose names are wanted; of all, or of the standard ones only. */
export const descriptors = (
  pid: number,
  which: "all" | "standard",
  isWanted: (file: string) => boolean
): ReadonlyArray<Descriptor> => {
  const numbers = (which === "all" ? attempt(() => Fs.readdirSync(`/proc/${pid}/fd`)) : undefined) ?? ["0", "1", "2"]
  return numbers.flatMap((number) => descriptor(pid, number, isWanted) ?? [])
}

/** The flag of a descriptor that is closed when its process becomes another program (Linux). */
const closeOnExec = 0o2000000

/**
 * Tests whether a process's descriptor is closed when the process becomes another program; false where that is not known.
 */
export const closesOnExec = (pid: number, number: number): boolean => {
  const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(text(`/proc/${pid}/fdinfo/${number}`) ?? "") ?? []
  return (Number.parseInt(flags, 8) & closeOnExec) !== 0
}

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
  (attempt(() => Fs.readdirSync(`/proc/${pid}/task`)) ?? []).flatMap((thread) => childrenOf(pid, thread) ?? [])

/** Reads a process's pids in the PID namespaces that it lies in, the innermost last. */
export const namespacePids = (pid: number): ReadonlyArray<number> =>
  /^NSpid:\s*(.*)$/m
    .exec(text(`/proc/${pid}/status`) ?? "")?.[1]
    ?.split(/\s+/)
    .map(Number) ?? []
