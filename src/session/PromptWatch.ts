/**
 * Frees a shell that can't read its next line, because something else waits for standard input where a prompt would be:
 * a trap, or a prompt's command that a user has set (`trap cat CHLD`).
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ProcessFiles from "./ProcessFiles.js"
import * as ProcessSignals from "./ProcessSignals.js"
import * as ProcessTable from "./ProcessTable.js"
import * as ProtocolInput from "./ProtocolInput.js"
import type { Shell } from "./Shell.js"

/** Milliseconds between two looks at a command; they grow while there is nothing to see. */
const firstLook = 40
const lastLook = 1000

/** Looks at a shell that is stuck before it is interrupted, and before it is killed. */
const patience = { interrupt: 3, kill: 30 }

/** The most milliseconds in which a shell stops that is told to. */
const stopping = 1000

const readText = (path: string): string => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/**
 * Returns the shell's standard input where it is the socket of the protocol, as it is between commands only: a command
 * has `/dev/null` or what it opened itself, which is no Unix socket.
 */
const promptOf = (pid: number): string | undefined => {
  const link = ProtocolInput.of(pid)
  const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1]
  return inode !== undefined && new RegExp(` ${inode}( |$)`, "m").test(readText("/proc/net/unix")) ? link : undefined
}

/**
 * Tests whether the shell writes its state, which it does with builtins only, and which takes long where it is large. A
 * shell that ends between commands does so with the protocol's standard input.
 */
const handsOver = (pid: number, state: string): boolean => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/fd/1`).replace(/ \(deleted\)$/, "") === state
  } catch {
    return false
  }
}

const stateOf = (pid: number): string => ProcessFiles.stat(pid)?.state ?? ""

const killAll = (pids: ReadonlyArray<number>): void => {
  for (const pid of pids) ProcessSignals.send(pid, "SIGKILL")
}

/** Returns the pids of what the shell has started with that standard input. */
const eatersOf = (shell: number, prompt: string): ReadonlyArray<number> =>
  ProcessTable.descendants(ProcessTable.list(), shell).flatMap(({ pid }) =>
    ProtocolInput.of(pid) === prompt ? [pid] : []
  )

/**
 * The options of `begin`.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchOptions {
  readonly shell: Shell
  /** The FIFO that the shell writes its state to when it ends. */
  readonly state: string
  /** True once the command has ended. */
  readonly isOver: () => boolean
  /** Returns the line that makes the shell report where it is. */
  readonly probe: () => string
  /** Called with the names of programs that were killed, and whether the shell was interrupted, which may remove its traps. */
  readonly onFreed: (names: ReadonlyArray<string>, isInterrupted: boolean) => void
}

/**
 * Begins to look after a command that takes longer than most. The returned function ends that.
 *
 * @since 0.1.0
 * @category constructors
 */
export const begin = ({ isOver, onFreed, probe, shell, state }: WatchOptions): (() => void) => {
  let delay = firstLook
  /** The looks in a row that saw the shell at a prompt. */
  let stuck = 0
  /** The shell, while it is stopped. */
  let stopped: number | undefined
  let wasInterrupted = false
  const killed: Array<string> = []
  let timer = setTimeout(look, delay).unref()

  function look(): void {
    if (isOver() || !shell.alive) return
    shell.tendKeeper()
    const { pid } = shell
    const prompt = promptOf(pid)
    if (prompt === undefined || handsOver(pid, state)) {
      stuck = 0
      delay = Math.min(2 * delay, lastLook)
    } else {
      delay = firstLook
      if (free(pid, prompt)) return
    }
    timer = setTimeout(look, delay).unref()
  }

  /**
   * Finds the processes that may have taken the shell's lines: first those below it whose standard input is the shell's
   * own; where killing them did not free it, whatever else has opened that.
   */
  const findEaters = (pid: number, prompt: string): ReadonlyArray<number> => {
    const below = eatersOf(pid, prompt)
    if (stuck <= patience.interrupt) return below
    return [...new Set([...below, ...ProtocolInput.holders(prompt, pid, shell.keptSince)])]
  }

  /** Returns whether the next look comes by itself. */
  const free = (pid: number, prompt: string): boolean => {
    stuck++
    const eaters = findEaters(pid, prompt)
    const names = eaters.map(ProcessFiles.name)
    for (const name of names) if (!killed.includes(name)) killed.push(name)
    // One that is not asleep may only wait for a processor.
    if (stuck > (eaters.length > 0 || stateOf(pid) === "S" ? patience.interrupt : patience.kill)) {
      interrupt(pid, prompt, performance.now() + stopping)
      return true
    }
    killAll(eaters)
    if (eaters.length === 0 && stuck <= patience.interrupt) shell.write(`\n${probe()}`)
    return false
  }

  /**
   * Makes the shell run its trap on URG, which removes the user's and then ends it, or kills it, while it is
   * stopped and still at that prompt: it may have begun the command since the look, which the signal would end. SIGINT is
   * no way out: bash 5.2 returns from such a trap into memory that it has freed, and runs what it finds there.
   */
  const interrupt = (pid: number, prompt: string, until: number): void => {
    if (stopped === undefined) ProcessSignals.send(pid, "SIGSTOP")
    stopped = pid
    // `t` where a debugger has stopped it.
    const isStopped = stateOf(pid).toUpperCase() === "T"
    if (!isStopped && performance.now() < until) {
      timer = setTimeout(() => interrupt(pid, prompt, until), 1).unref()
      return
    }
    if (isStopped && ProtocolInput.of(pid) === prompt && !handsOver(pid, state)) {
      if (stuck > patience.kill) shell.kill()
      else {
        ProcessSignals.send(pid, "SIGURG")
        killAll(findEaters(pid, prompt))
        shell.write(`\n${probe()}`)
        wasInterrupted = true
      }
    }
    goOn()
    timer = setTimeout(look, delay).unref()
  }

  const goOn = () => {
    if (stopped !== undefined) ProcessSignals.send(stopped, "SIGCONT")
    stopped = undefined
  }

  return () => {
    clearTimeout(timer)
    goOn()
    if (killed.length > 0 || wasInterrupted) onFreed(killed, wasInterrupted)
  }
}
