/**
 * Ends what a command runs, and keeps the shell wherever possible.
 *
 * @since 0.1.0
 */
import * as CommandMark from "./CommandMark.js"
import * as CommandProcesses from "./CommandProcesses.js"
import type { PipePaths } from "./FifoPairs.js"
import * as ProcessFiles from "./ProcessFiles.js"
import * as ProcessSignals from "./ProcessSignals.js"
import * as ProcessTable from "./ProcessTable.js"
import type { SessionDirectory } from "./SessionDirectory.js"
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
 * The command that is interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Target {
  readonly shell: Shell
  readonly directory: SessionDirectory
  readonly pipes: PipePaths
  /** The time of `performance.now()` when the command began. */
  readonly startedAt: number
  /** Tells whether the shell has begun it. */
  readonly begun: () => boolean
  /** Tells whether the shell has nothing left to run but the user's EXIT trap. */
  readonly isExiting: () => boolean
  /** The mark of its processes, and that of the next command's; undefined where the shell set it at its start. */
  readonly mark: string | undefined
  readonly nextMark: string
}

/** Returns the signs of the target's processes; `shell` is the shell's pid. */
const signsOf = ({ directory, mark, nextMark, pipes, startedAt }: Target, shell: number): CommandProcesses.Signs => {
  // A shell that has ended the command has the next one's mark; one in which the mark can't be set has another.
  const actual = CommandMark.of(shell)
  const marks = [mark, actual === nextMark ? undefined : actual].filter((one) => one !== undefined)
  return {
    shell,
    sessionId: directory.sessionId,
    since: ProcessTable.ticksAt(startedAt),
    marks: new Set(marks),
    pipes,
    older: new Set()
  }
}

/**
 * Ends what a command has left behind that has ended itself. Resolves when nothing of it is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const clear = (target: Target): Promise<void> => CommandProcesses.end(signsOf(target, target.shell.pid))

/**
 * Stops a command with its shell, before anything more of it runs, but for what `isSpared` names. The returned function
 * kills what is stopped, and resolves when nothing of it is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const freeze = (target: Target, isSpared: (pid: number) => boolean): (() => Promise<void>) =>
  CommandProcesses.freeze(signsOf(target, target.shell.pid), isSpared, () => target.shell.kill())

/**
 * Leaves out what runs below a process that ignores SIGINT, as a list in the background does, though its children do
 * not: it would run its next command. All of it is ended once the shell has ended the command.
 */
const notBelowDeaf = (processes: ReadonlyArray<ProcessTable.Process>): ReadonlyArray<ProcessTable.Process> => {
  const below = new Set<number>()
  for (const { pid } of processes) {
    if (below.has(pid) || ProcessFiles.status(pid)?.isDeaf !== true) continue
    for (const one of ProcessTable.descendants(processes, pid)) below.add(one.pid)
  }
  return processes.filter(({ pid }) => !below.has(pid))
}

/**
 * Begins to interrupt a command. The returned function must be called as soon as the command's status is known, since a
 * later signal would hit the next command. It ends the command's background processes too, and resolves when nothing
 * of the command is left; earlier commands' go on. With `onlyStop`, it ends nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const begin = (target: Target, patience: Patience): ((onlyStop?: boolean) => Promise<void>) => {
  const { begun, directory, isExiting, shell } = target
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  let asking: NodeJS.Timeout | undefined
  let forced = false
  /** Looked up once. */
  let signs: CommandProcesses.Signs | undefined

  const ask = (pids: ReadonlyArray<number>, shellPid: number) => {
    clearTimeout(asking)
    const nascent: Array<number> = []
    for (const pid of pids) {
      if (ProcessSignals.isNascent(pid, shellPid)) nascent.push(pid)
      else ProcessSignals.send(pid, "SIGINT")
    }
    if (nascent.length > 0) asking = setTimeout(() => ask(nascent, shellPid), 1)
  }

  const step = () => {
    const elapsed = performance.now() - began
    // The end of an EXIT trap's command would only make the shell run the trap's next one.
    if (elapsed >= patience.kill || isExiting()) {
      signs ??= signsOf(target, shell.pid)
      void CommandProcesses.freeze(
        signs,
        () => false,
        () => shell.kill()
      )()
      return
    }
    if (!begun()) {
      timer = setTimeout(step, 1)
      return
    }
    if (elapsed >= patience.ask && !forced) {
      forced = true
      directory.useForce(true)
    }
    signs ??= signsOf(target, shell.pid)
    const processes = CommandProcesses.list(signs)
    const shellPid = signs.shell
    ProcessSignals.send(shellPid, "SIGURG")
    if (elapsed < patience.ask) {
      ask(
        notBelowDeaf(processes).map((one) => one.pid),
        shellPid
      )
    } else {
      ProcessSignals.send(shellPid, "SIGCONT")
      const newest = processes
        .filter((one) => one.parent === shellPid)
        .sort((a, b) => a.started - b.started || a.pid - b.pid)
        .at(-1)
      if (newest !== undefined) {
        // Parents first: a subshell whose child ends would run its next command.
        for (const one of [newest, ...ProcessTable.descendants(processes, newest.pid)])
          ProcessSignals.send(one.pid, "SIGKILL")
      }
    }
    timer = setTimeout(step, elapsed < patience.ask ? askEvery : killEvery)
  }
  step()
  return (onlyStop = false) => {
    clearTimeout(timer)
    clearTimeout(asking)
    if (forced) directory.useForce(false)
    forced = false
    return signs === undefined || onlyStop ? Promise.resolve() : CommandProcesses.end(signs)
  }
}
