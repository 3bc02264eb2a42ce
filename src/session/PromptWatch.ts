/**
 * Frees a shell that can't read its next line, because something else waits for standard input where a prompt would be:
 * a trap, or a prompt's command that a user has set (`trap cat CHLD`).
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ProcessTable from "./ProcessTable.js"
import type { Shell } from "./Shell.js"

/** Milliseconds between two looks at a command; they grow while there is nothing to see. */
const firstLook = 40
const lastLook = 1000

/** Looks at a shell that is stuck before it is interrupted, and before it is killed. */
const patience = { interrupt: 3, kill: 12 }

const linkOf = (pid: number): string => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/fd/0`)
  } catch {
    return ""
  }
}

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
  const link = linkOf(pid)
  const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1]
  return inode !== undefined && new RegExp(` ${inode}( |$)`, "m").test(readText("/proc/net/unix")) ? link : undefined
}

const isAsleep = (pid: number): boolean => / S \S+ /.test(readText(`/proc/${pid}/stat`).replace(/^.*\)/s, ""))

const nameOf = (pid: number): string =>
  readText(`/proc/${pid}/comm`)
    .trim()
    .replaceAll(/[^ -~]/g, "?")

/**
 * The options of `begin`.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchOptions {
  readonly shell: Shell
  /** True once the command has ended. */
  readonly isOver: () => boolean
  /** Returns the line that makes the shell report where it is. */
  readonly probe: () => string
  /** Called with the names of programs that were killed. */
  readonly onFreed: (names: ReadonlyArray<string>) => void
}

/**
 * Begins to look after a command that takes longer than most. The returned function ends that.
 *
 * @since 0.1.0
 * @category constructors
 */
export const begin = ({ isOver, onFreed, probe, shell }: WatchOptions): (() => void) => {
  let delay = firstLook
  let stuck = 0
  let wasInterrupted = false
  const killed: Array<string> = []
  let timer = setTimeout(look, delay).unref()

  function look(): void {
    if (isOver() || !shell.alive) return
    const { pid } = shell
    const prompt = promptOf(pid)
    if (prompt === undefined) {
      stuck = 0
      delay = Math.min(2 * delay, lastLook)
    } else {
      delay = firstLook
      free(pid, prompt)
    }
    timer = setTimeout(look, delay).unref()
  }

  const free = (pid: number, prompt: string): void => {
    stuck++
    const eaters = ProcessTable.descendants(ProcessTable.list(), pid).filter((one) => linkOf(one.pid) === prompt)
    const names = eaters.map((one) => nameOf(one.pid))
    for (const one of eaters) ProcessTable.signal(one.pid, "SIGKILL")
    for (const name of names) if (!killed.includes(name)) killed.push(name)
    if (eaters.length > 0) return
    if (stuck > patience.kill) return shell.kill()
    if (stuck <= patience.interrupt) return shell.write(`\n${probe()}`)
    if (stuck > patience.interrupt && isAsleep(pid)) {
      ProcessTable.signal(pid, "SIGURG")
      ProcessTable.signal(pid, "SIGINT")
      shell.write(`\n${probe()}`)
      wasInterrupted = true
    }
  }

  return () => {
    clearTimeout(timer)
    if (wasInterrupted && shell.alive && killed.length === 0) onFreed([])
    else if (killed.length > 0) onFreed(killed)
  }
}
