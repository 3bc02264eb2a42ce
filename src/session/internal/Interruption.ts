/** Ends what a command runs, and keeps the shell wherever possible. */
import * as Timers from "node:timers/promises"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Shell } from "./ShellSupervisor.js"

/** The signs by which the processes of a command are known. */
interface Signs {
  /** The pid of the shell, which is not one of them. */
  readonly shell: number
  readonly sessionId: string
  /** When the command began (`ProcessTable.ticksAt`). */
  readonly since: number
  /** The marks that the command's processes may have. */
  readonly marks: ReadonlySet<string>
  /** The pids that are known to be older than the command. */
  readonly older: Set<number>
}

/**
 * Returns the processes that a command has started and that have not ended. Its mark tells, also of what has left the
 * shell's descendants; where a process has none, descent does. What another command of the session has started is not
 * among them, nor what that has started since. Of an ended command, whose shell has others, descent from its processes that
 * are known already counts.
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

/** Milliseconds after which the rest is left alone: what another user owns (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/** The number of processes from which nothing is asked: asking takes time, in which they become more. */
const many = 64

/** Milliseconds between two looks at what is left: the first and the longest. */
const pauses = [1, 20] as const

/** The most looks at what has been forked while the others were stopped. */
const mostLooks = 10

/**
 * Stops all, also those that fork faster than they can be listed: a process that is stopped does not fork, and does not
 * go on when one that it waits for ends. What `isSpared` names goes on, with what is below it.
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

/** Kills children before their parents, at whose end the system wakes those that are stopped (orphaned groups). */
const killStopped = (stopped: ReadonlyArray<ProcessTable.Process>): void => {
  const youngest = stopped.toSorted((a, b) => b.started - a.started || b.pid - a.pid)
  for (const { pid } of youngest) ProcessTable.send(pid, "SIGKILL")
}

/** Milliseconds that a parent has to end before its children are asked. */
const precedence = 25

/**
 * Ends what a command has started: asks, then kills. Parents are asked before their children, since a subshell whose
 * child ends would run its next command. Resolves when nothing of it is left.
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
        // One that is stopped takes no other signal.
        ProcessTable.send(pid, "SIGCONT")
      }
    }
    await Timers.setTimeout(pause)
  }
}

/**
 * Kills a command with its shell, so that nothing more of it runs: what waits for another of its processes does not see
 * that one's end.
 */
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
 * Milliseconds since an interruption began in which the command's processes get SIGINT, and the shell SIGURG; and in which
 * single processes are killed, one after the other, before the shell is.
 */
const asking = 1000
const killing = 2000

const askEvery = 75
const killEvery = 10

/** The command that is interrupted. */
export interface Target {
  readonly shell: Shell
  readonly directory: SessionDirectory
  /** The time of `performance.now()` when the command began. */
  readonly startedAt: number
  /** True once the shell has begun it. */
  readonly begun: boolean
  /** True once the shell has nothing left to run but the user's EXIT trap. */
  readonly isExiting: boolean
  /** The mark of its processes, and that of the next command's. */
  readonly mark: string
  readonly nextMark: string
  /** The pids that are known to be older. */
  readonly older: Set<number>
}

/** Returns the signs of the target's processes; `shell` is the shell's pid. */
const signsOf = ({ directory, mark, nextMark, older, startedAt }: Target, shell: number): Signs => {
  // A shell that has ended the command has the next one's mark; one in which the mark can't be set has another.
  const actual = ProcessTable.of(shell)
  return {
    shell,
    sessionId: directory.sessionId,
    since: ProcessTable.ticksAt(startedAt),
    marks: new Set(actual === undefined || actual === nextMark ? [mark] : [mark, actual]),
    older
  }
}

/** Returns the function that lists what a command has left behind that has ended itself, at any time after. */
export const leftovers = (target: Target): (() => ReadonlyArray<ProcessTable.Process>) => {
  const signs = signsOf(target, target.shell.pid)
  let found: Array<ProcessTable.Process> | undefined
  return () => {
    found = list(signs, found)
    return found
  }
}

/** Ends what a command has left behind that has ended itself. Resolves when nothing of it is left. */
export const clear = (target: Target): Promise<void> => end(signsOf(target, target.shell.pid))

/**
 * Stops a command with its shell, before anything more of it runs, but for what `isSpared` names. The returned function
 * kills all of it, and resolves when nothing is left.
 */
export const freeze = (target: Target, isSpared: (pid: number) => boolean): (() => Promise<void>) => {
  const signs = signsOf(target, target.shell.pid)
  ProcessTable.send(signs.shell, "SIGSTOP")
  stopAll(signs, isSpared)
  return () => killWithShell(signs, () => target.shell.kill())
}

/**
 * Leaves out what runs in the background: processes that ignore SIGINT, and what runs below them. Those below may not
 * ignore it, but at the end of one, the list in the background would run its next command.
 */
const inForeground = (processes: ReadonlyArray<ProcessTable.Process>): ReadonlyArray<ProcessTable.Process> => {
  const deaf = processes.filter(({ pid }) => ProcessTable.isDeaf(pid))
  const background = new Set(deaf.flatMap((one) => [one, ...ProcessTable.descendants(processes, one.pid)]))
  return processes.filter((one) => !background.has(one))
}

/** Milliseconds in which a fork of the shell has redirected its output (`server >log 2>&1 &`). */
const forking = 100

/**
 * Returns the test whether a process of an ended command may still write to its result: a process substitution, or for
 * a moment, a fork of the shell that goes to the background.
 */
export const writers = (target: Target): (() => boolean) => {
  const signs = signsOf(target, target.shell.pid)
  const session = ProcessTable.stat(signs.shell)?.session
  const until = performance.now() + forking
  return () => {
    const left = list(signs)
    if (performance.now() < until && left.some(({ pid }) => ProcessTable.isForking(pid))) return true
    return inForeground(left).some((one) => session === undefined || one.session === session)
  }
}

/**
 * Begins to interrupt a command. The returned function must be called as soon as the command's status is known, since a
 * later signal would hit the next command. It ends the command's background processes too, and resolves when nothing
 * of the command is left; earlier commands' go on. With `onlyStop`, it ends nothing.
 */
export const begin = (target: Target): ((onlyStop?: boolean) => Promise<void>) => {
  const { directory, shell } = target
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  let repeated: NodeJS.Timeout | undefined
  let forced = false
  /** Looked up once. */
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
    // The end of an EXIT trap's command would only make the shell run the trap's next one.
    if (elapsed >= killing || target.isExiting) {
      signs ??= signsOf(target, shell.pid)
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
    signs ??= signsOf(target, shell.pid)
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
