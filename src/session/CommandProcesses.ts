/**
 * Finds and ends what one command has started, and nothing that earlier commands have.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as CommandMark from "./CommandMark.js"
import type { PipePaths } from "./FifoPairs.js"
import * as ProcessSignals from "./ProcessSignals.js"
import * as ProcessTable from "./ProcessTable.js"

/**
 * The signs by which the processes of a command are known.
 *
 * @since 0.1.0
 * @category models
 */
export interface Signs {
  /** The pid of the shell, which is not one of them. */
  readonly shell: number
  readonly sessionId: string
  /** When the command began (`ProcessTable.ticksAt`). */
  readonly since: number
  /** The marks that the command's processes may have (`CommandMark`). */
  readonly marks: ReadonlySet<string>
  /** The FIFOs of its output. */
  readonly pipes: PipePaths
  /** The pids that are known to be older than the command. */
  readonly older: Set<number>
}

/** The most descriptors of a process that are looked at. */
const mostDescriptors = 256

/** Tests whether a process has one of the FIFOs open. */
const holds = (pid: number, pipes: ReadonlyArray<Fs.Stats>, names: ReadonlySet<string>): boolean => {
  try {
    return Fs.readdirSync(`/proc/${pid}/fd`)
      .slice(0, mostDescriptors)
      .some((fd) => {
        const link = `/proc/${pid}/fd/${fd}`
        // By name first: to look at any other file may take as long as its file system likes.
        if (!names.has(Path.basename(Fs.readlinkSync(link)))) return false
        const file = Fs.statSync(link)
        return pipes.some(({ dev, ino }) => file.dev === dev && file.ino === ino)
      })
  } catch {
    return false
  }
}

const holderOf = ({ stderr, stdout }: PipePaths): ((pid: number) => boolean) => {
  const paths = [stdout, stderr]
  const pipes = paths.flatMap((path) => Fs.lstatSync(path, { throwIfNoEntry: false }) ?? [])
  const names = new Set(paths.map((path) => Path.basename(path)))
  return (pid) => holds(pid, pipes, names)
}

/**
 * Returns the processes that a command has started and that have not ended. Its mark tells, also of what has left the
 * shell's descendants; where a process has none, descent does, or an end of the command's output. What another command
 * of the session has started is not among them, nor what that has started since.
 *
 * @since 0.1.0
 * @category combinators
 */
export const list = ({ marks, older, pipes, sessionId, shell, since }: Signs): Array<ProcessTable.Process> => {
  const born = ProcessTable.listSince(since, older).filter((one) => one.pid !== shell && one.pid !== process.pid)
  const found = new Set<ProcessTable.Process>()
  const unknown: Array<ProcessTable.Process> = []
  for (const one of born) {
    const mark = CommandMark.of(one.pid)
    if (mark !== undefined && marks.has(mark)) found.add(one)
    else if (!CommandMark.isOfSession(mark, sessionId)) unknown.push(one)
  }
  const addBelow = (root: number) => {
    for (const one of ProcessTable.descendants(unknown, root)) found.add(one)
  }
  for (const root of [shell, ...Array.from(found, (one) => one.pid)]) addBelow(root)
  if (unknown.length > 0) {
    const isHolder = holderOf(pipes)
    for (const one of unknown) {
      if (found.has(one) || !isHolder(one.pid)) continue
      found.add(one)
      addBelow(one.pid)
    }
  }
  return [...found]
}

/** Milliseconds that processes have to end by themselves. */
const farewell = 300

/** Milliseconds after which the rest is left alone: what another user owns (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/** The number of processes from which nothing is asked: asking takes time, in which they become more. */
const many = 64

/** Milliseconds between two looks at what is left: the first and the longest. */
const pauses = [1, 20] as const

const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

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
      ProcessSignals.send(one.pid, "SIGSTOP")
    }
  }
  return stopped
}

/** Kills children before their parents, at whose end the system wakes those that are stopped (orphaned groups). */
const killStopped = (stopped: ReadonlyArray<ProcessTable.Process>): void => {
  const youngest = stopped.toSorted((a, b) => b.started - a.started || b.pid - a.pid)
  for (const { pid } of youngest) ProcessSignals.send(pid, "SIGKILL")
}

/** Milliseconds that a parent has to end before its children are asked. */
const precedence = 25

/**
 * Ends what a command has started: asks, then kills. Parents are asked before their children, since a subshell whose
 * child ends would run its next command. Resolves when nothing of it is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const end = async (signs: Signs): Promise<void> => {
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
        ProcessSignals.send(pid, "SIGTERM")
        // One that is stopped takes no other signal.
        ProcessSignals.send(pid, "SIGCONT")
      }
    }
    await wait(pause)
  }
}

/**
 * Stops a command with its shell, so that nothing more of it runs: what waits for another of its processes does not see
 * that one's end. What `isSpared` names goes on. The returned function kills what is stopped, and then the shell by
 * `killShell`; it resolves when nothing is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const freeze = (
  signs: Signs,
  isSpared: (pid: number) => boolean,
  killShell: () => void
): (() => Promise<void>) => {
  ProcessSignals.send(signs.shell, "SIGSTOP")
  stopAll(signs, isSpared)
  return async () => {
    const began = performance.now()
    killStopped(stopAll(signs, isSpared))
    killShell()
    for (let pause: number = pauses[0]; performance.now() - began < giveUp; pause = Math.min(2 * pause, pauses[1])) {
      await wait(pause)
      const left = stopAll(signs, isSpared)
      if (left.length === 0) return
      killStopped(left)
    }
  }
}
