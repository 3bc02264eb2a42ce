/**
 * Ends what a command runs, and keeps the shell wherever possible.
 *
 * @since 0.1.0
 */
import * as ProcessTable from "./ProcessTable.js"
import type { Shell } from "./Shell.js"

/**
 * The times of an interruption, in milliseconds since it began.
 *
 * @since 0.1.0
 * @category models
 */
export interface Patience {
  /** The end of asking: until then, the command's processes get SIGINT, and the shell SIGURG. */
  readonly ask: number
  /**
   * The end of killing single processes: until then, they are killed one after the other; after it, the shell is
   * killed.
   */
  readonly kill: number
}

/**
 * Asks for one second, and kills single processes for another.
 *
 * @since 0.1.0
 * @category models
 */
export const defaultPatience: Patience = { ask: 1000, kill: 2000 }

const askEvery = 75
const killEvery = 10

/**
 * Begins to interrupt a command. The returned function must be called as soon as the command's status is known, since a
 * later signal would hit the next command. `startedAt` is the time of `performance.now()` when the command began;
 * `begun` tells whether the shell has begun it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const begin = (options: {
  readonly shell: Shell
  readonly startedAt: number
  readonly begun: () => boolean
  /** Tells the shell that its command is ended by force. */
  readonly useForce: (force: boolean) => void
  readonly patience: Patience
}): (() => void) => {
  const { begun, patience, shell, useForce } = options
  const since = ProcessTable.ticksAt(options.startedAt)
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  let asking: NodeJS.Timeout | undefined
  let forced = false

  /** The shell's pid, which is looked up once. */
  let shellPid: number | undefined
  const started = (from: number) =>
    ProcessTable.descendants(
      ProcessTable.list().filter((one) => one.started >= since),
      from
    )

  const ask = (pids: ReadonlyArray<number>, shellPid: number) => {
    clearTimeout(asking)
    const nascent: Array<number> = []
    for (const pid of pids) {
      if (ProcessTable.isNascent(pid, shellPid)) nascent.push(pid)
      else ProcessTable.signal(pid, "SIGINT")
    }
    if (nascent.length > 0) asking = setTimeout(() => ask(nascent, shellPid), 1)
  }

  const step = () => {
    const elapsed = performance.now() - began
    if (elapsed >= patience.kill) {
      for (const one of started(shell.pid)) ProcessTable.signal(one.pid, "SIGKILL")
      shell.kill()
      return
    }
    if (!begun()) {
      timer = setTimeout(step, 1)
      return
    }
    if (elapsed >= patience.ask && !forced) {
      forced = true
      useForce(true)
    }
    shellPid ??= shell.pid
    const processes = started(shellPid)
    ProcessTable.signal(shellPid, "SIGURG")
    if (elapsed < patience.ask) {
      ask(
        processes.map((one) => one.pid),
        shellPid
      )
    } else {
      ProcessTable.signal(shellPid, "SIGCONT")
      const newest = processes
        .filter((one) => one.parent === shellPid)
        .sort((a, b) => a.started - b.started || a.pid - b.pid)
        .at(-1)
      if (newest !== undefined) {
        for (const one of [...ProcessTable.descendants(processes, newest.pid), newest])
          ProcessTable.signal(one.pid, "SIGKILL")
      }
    }
    timer = setTimeout(step, elapsed < patience.ask ? askEvery : killEvery)
  }
  step()
  return () => {
    clearTimeout(timer)
    clearTimeout(asking)
    if (forced) useForce(false)
    forced = false
  }
}
