/** Interrupts commands and ends their processes, keeping the shell alive wherever possible. */
import * as Timers from "node:timers/promises"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Shell } from "./ShellSupervisor.js"

/** How the processes of a command are recognized. */
interface Signs {
  /** The shell's pid; the shell itself does not count. */
  readonly shell: number
  readonly sessionId: string
  /** The command's start in clock ticks (`ProcessTable.ticksAt`). */
  readonly since: number
  /** The marks that the command's processes may carry. */
  readonly marks: ReadonlySet<string>
  /** Pids known to be older than the command. */
  readonly older: Set<number>
}

/**
 * Lists the processes that a command has started and that still run. A process belongs to the command by its mark,
 * even if it has left the shell's descendants. A process without a mark belongs by descent. Processes of other
 * commands, and what those start, do not count.
 *
 * For an ended command, pass `known`: descent from its known processes counts then, since the shell has other
 * children.
 */
export const list = (
  { marks, older, sessionId, shell, since }: Signs,
  known?: ReadonlyArray<ProcessTable.Process>
): Array<ProcessTable.Process> => {
  const born = ProcessTable.listSince(since, older).filter((one) => one.pid !== shell && one.pid !== process.pid)
  const found = new Set<ProcessTable.Process>()
  const unknown: Array<ProcessTable.Process> = []
  for (const one of born) {
    const mark = ProcessTable.of(one.pid)
    if ((mark !== undefined && marks.has(mark)) || known?.some((other) => isSame(one, other)) === true) found.add(one)
    else if (!ProcessTable.isOfSession(mark, sessionId)) unknown.push(one)
  }
  for (const root of [...(known === undefined ? [shell] : []), ...Array.from(found, (one) => one.pid)]) {
    for (const one of ProcessTable.descendants(unknown, root)) found.add(one)
  }
  return [...found]
}

const isSame = (one: ProcessTable.Process, other: ProcessTable.Process): boolean =>
  one.pid === other.pid && one.started === other.started

/** Milliseconds that processes have to end by themselves. */
const farewell = 300

/** Milliseconds after which the rest is left alone: another user's processes (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/** With more processes than this, none is asked to end: asking takes time, in which they multiply. */
const many = 64

/** The first and the longest pause between two checks of what is left, in ms. */
const pauses = [1, 20] as const

/** The most repeated checks for processes forked while the others were stopped. */
const mostLooks = 10

/**
 * Stops all processes, also those that fork faster than they can be listed. A stopped process does not fork, nor run
 * on when a process that it waits for ends. Spares the processes that `isSpared` names, and their descendants.
 */
const stopAll = (
  signs: Signs,
  isSpared: (pid: number) => boolean = () => false
): ReadonlyArray<ProcessTable.Process> => {
  const seen = new Set<number>()
  const stopped: Array<ProcessTable.Process> = []
  for (let looks = 0, isMore = true; isMore && looks < mostLooks; looks++) {
    isMore = false
    const all = list(signs)
    const spared = all.filter(({ pid }) => !seen.has(pid) && isSpared(pid))
    for (const { pid } of spared.flatMap((one) => [one, ...ProcessTable.descendants(all, one.pid)])) seen.add(pid)
    for (const one of all) {
      if (seen.has(one.pid)) continue
      seen.add(one.pid)
      stopped.push(one)
      isMore = true
      ProcessTable.send(one.pid, "SIGSTOP")
    }
  }
  return stopped
}

/** Kills children before their parents: when a parent ends, the kernel wakes its stopped children (orphaned groups). */
const killStopped = (stopped: ReadonlyArray<ProcessTable.Process>): void => {
  const youngest = stopped.toSorted((a, b) => b.started - a.started || b.pid - a.pid)
  for (const { pid } of youngest) ProcessTable.send(pid, "SIGKILL")
}

/** Milliseconds that a parent has to end before its children are asked. */
const precedence = 25

/**
 * Ends the processes of a command: asks, then kills. Asks parents before their children, since a subshell whose child
 * ends would run its next command. Resolves when nothing is left.
 */
const end = async (signs: Signs): Promise<void> => {
  const asked = new Map<number, number>()
  const began = performance.now()
  for (let pause: number = pauses[0]; ; pause = Math.min(2 * pause, pauses[1])) {
    const left = list(signs)
    const elapsed = performance.now() - began
    if (left.length === 0 || elapsed >= giveUp) return
    if (left.length > many || elapsed >= farewell) killStopped(stopAll(signs))
    else {
      const pids = new Set(left.map(({ pid }) => pid))
      const isFirst = (parent: number) => !pids.has(parent) || elapsed - (asked.get(parent) ?? elapsed) >= precedence
      for (const { pid } of left.filter((one) => !asked.has(one.pid) && isFirst(one.parent))) {
        asked.set(pid, elapsed)
        ProcessTable.send(pid, "SIGTERM")
        // A stopped process takes no other signal.
        ProcessTable.send(pid, "SIGCONT")
      }
    }
    await Timers.setTimeout(pause)
  }
}

/** Kills a command and its shell. Stops all first, so that none runs on when a process that it waits for ends. */
const killWithShell = async (signs: Signs, killShell: () => void): Promise<void> => {
  const began = performance.now()
  ProcessTable.send(signs.shell, "SIGSTOP")
  killStopped(stopAll(signs))
  killShell()
  for (let pause: number = pauses[0]; performance.now() - began < giveUp; pause = Math.min(2 * pause, pauses[1])) {
    await Timers.setTimeout(pause)
    const left = stopAll(signs)
    if (left.length === 0) return
    killStopped(left)
  }
}

/**
 * Phases of an interruption, in ms since it began. Until `asking`, the command's processes get SIGINT and the shell
 * SIGURG. Until `killing`, single processes are killed one after the other, then the shell.
 */
const asking = 1000
const killing = 2000

const askEvery = 75
const killEvery = 10

export interface Target {
  readonly shell: Shell
  readonly directory: SessionDirectory
  /** The command's start, by `performance.now()`. */
  readonly startedAt: number
  /** True once the shell has begun it. */
  readonly begun: boolean
  /** True if the shell has nothing left to run but the user's EXIT trap. */
  readonly isExiting: boolean
  /** The marks of this command's processes and of the next command's. */
  readonly mark: string
  readonly nextMark: string
  /** Pids known to be older than the command. */
  readonly older: Set<number>
}

const signsOf = ({ directory, mark, nextMark, older, shell: { pid: shell }, startedAt }: Target): Signs => {
  // A shell that has ended the command carries the next mark. A shell whose mark can't be set carries another one.
  const actual = ProcessTable.of(shell)
  return {
    shell,
    sessionId: directory.sessionId,
    since: ProcessTable.ticksAt(startedAt),
    marks: new Set(actual === undefined || actual === nextMark ? [mark] : [mark, actual]),
    older
  }
}

/** Returns a function that lists what an ended command has left running, whenever it is called. */
export const leftovers = (target: Target): (() => ReadonlyArray<ProcessTable.Process>) => {
  const signs = signsOf(target)
  let found: Array<ProcessTable.Process> | undefined
  return () => {
    found = list(signs, found)
    return found
  }
}

/** Ends the processes that an ended command has left. Resolves when nothing is left. */
export const clear = (target: Target): Promise<void> => end(signsOf(target))

/**
 * Stops a command and its shell at once, except for the processes that `isSpared` names. The returned function kills
 * them, and resolves when nothing is left.
 */
export const freeze = (target: Target, isSpared: (pid: number) => boolean): (() => Promise<void>) => {
  const signs = signsOf(target)
  ProcessTable.send(signs.shell, "SIGSTOP")
  stopAll(signs, isSpared)
  return () => killWithShell(signs, () => target.shell.kill())
}

/**
 * Leaves out background processes: those that ignore SIGINT, and their descendants. A descendant may not ignore it,
 * but when it ends, a background list would run its next command.
 */
const inForeground = (processes: ReadonlyArray<ProcessTable.Process>): ReadonlyArray<ProcessTable.Process> => {
  const deaf = processes.filter(({ pid }) => ProcessTable.isDeaf(pid))
  const background = new Set(deaf.flatMap((one) => [one, ...ProcessTable.descendants(processes, one.pid)]))
  return processes.filter((one) => !background.has(one))
}

/** Milliseconds in which a new fork of the shell has redirected its output (`server >log 2>&1 &`). */
const forking = 100

/**
 * Returns a test whether a process of an ended command may still write to its result. That is a process substitution,
 * or for a moment a fork of the shell that goes to the background.
 */
export const writers = (target: Target): (() => boolean) => {
  const signs = signsOf(target)
  const session = ProcessTable.stat(signs.shell)?.session
  const until = performance.now() + forking
  return () => {
    const left = list(signs)
    if (performance.now() < until && left.some(({ pid }) => ProcessTable.isForking(pid))) return true
    return inForeground(left).some((one) => session === undefined || one.session === session)
  }
}

/**
 * Begins to interrupt a command. Call the returned function as soon as the command's status is known, since a later
 * signal would hit the next command. It also ends the command's background processes and resolves when nothing of the
 * command is left. With `onlyStop`, it only stops signalling. Background processes of earlier commands go on.
 */
export const begin = (target: Target): ((onlyStop?: boolean) => Promise<void>) => {
  const { directory, shell } = target
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  let repeated: NodeJS.Timeout | undefined
  let forced = false
  let signs: Signs | undefined

  const ask = (pids: ReadonlyArray<number>, shellPid: number) => {
    clearTimeout(repeated)
    const nascent: Array<number> = []
    for (const pid of pids) {
      if (ProcessTable.isNascent(pid, shellPid)) nascent.push(pid)
      else ProcessTable.send(pid, "SIGINT")
    }
    if (nascent.length > 0) repeated = setTimeout(() => ask(nascent, shellPid), 1)
  }

  const step = () => {
    const elapsed = performance.now() - began
    // Ending an EXIT trap's command would only make the shell run the trap's next one.
    if (elapsed >= killing || target.isExiting) {
      signs ??= signsOf(target)
      void killWithShell(signs, () => shell.kill())
      return
    }
    if (!target.begun) {
      timer = setTimeout(step, 1)
      return
    }
    if (elapsed >= asking && !forced) {
      forced = true
      directory.signal(directory.force, true)
    }
    signs ??= signsOf(target)
    const processes = list(signs)
    const shellPid = signs.shell
    ProcessTable.send(shellPid, "SIGURG")
    if (elapsed < asking) {
      ask(
        inForeground(processes).map((one) => one.pid),
        shellPid
      )
    } else {
      ProcessTable.send(shellPid, "SIGCONT")
      const newest = processes
        .filter((one) => one.parent === shellPid)
        .sort((a, b) => a.started - b.started || a.pid - b.pid)
        .at(-1)
      if (newest !== undefined) {
        // Parents first: a subshell whose child ends would run its next command.
        for (const one of [newest, ...ProcessTable.descendants(processes, newest.pid)])
          ProcessTable.send(one.pid, "SIGKILL")
      }
    }
    timer = setTimeout(step, elapsed < asking ? askEvery : killEvery)
  }
  step()
  return (onlyStop = false) => {
    clearTimeout(timer)
    clearTimeout(repeated)
    if (forced) directory.signal(directory.force, false)
    forced = false
    return signs === undefined || onlyStop ? Promise.resolve() : end(signs)
  }
}
