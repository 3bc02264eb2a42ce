/**
 * Tells what became of a session's background processes when a shell has ended.
 *
 * @since 0.1.0
 */
import * as BackgroundProcesses from "./BackgroundProcesses.js"
import * as ProcessTable from "./ProcessTable.js"
import * as ProcessTree from "./ProcessTree.js"
import type { SessionProcesses } from "./SessionProcesses.js"
import type * as Shell from "./Shell.js"
import type { ShellKeeper } from "./ShellKeeper.js"

/** A shell and its keeper. */
interface Running {
  readonly keeper: ShellKeeper
  readonly shell: Shell.Shell
}

/** Milliseconds after the beginning of the last command at which the processes are looked at. */
const lookAfter = 100

const idOf = ({ pid, started }: BackgroundProcesses.BackgroundProcess) => `${pid} ${started}`

/**
 * Remembers the background processes of a session, for a keeper that is killed takes them along, and who asks then
 * finds none of them.
 *
 * @since 0.1.0
 * @category models
 */
export class BackgroundNotice {
  private readonly told = new Set<string>()
  private remembered: ReadonlyArray<BackgroundProcesses.BackgroundProcess> = []
  private readonly timer: NodeJS.Timeout
  /** The time at which the last command began. */
  private began = 0

  constructor(
    private readonly processes: SessionProcesses,
    /** Returns the shell that runs. */
    private readonly running: () => Running | undefined
  ) {
    this.timer = setTimeout(() => this.look(), lookAfter).unref()
  }

  /** Notes that a command begins. */
  begin(): void {
    this.began = performance.now()
    this.timer.refresh()
  }

  /** Forgets everything, for the processes are ended on purpose. */
  reset(): void {
    this.remembered = []
    this.told.clear()
  }

  close(): void {
    clearTimeout(this.timer)
  }

  /** Returns the notice of a shell's end, to be made when the result is. */
  of(keeper: ShellKeeper): () => string | undefined {
    const ended = performance.now()
    return () => (keeper.alive ? this.goingOn(keeper, ended) : this.gone())
  }

  private goingOn(keeper: ShellKeeper, ended: number): string | undefined {
    const before = ProcessTable.ticksAt(ended) + ProcessTable.early
    const next = this.running()?.shell.hostPid
    const known = new Set(next === undefined ? [] : [next, ...ProcessTree.below(next)])
    const pids = this.processes.members(keeper.spawned).flatMap(({ pid }) => (known.has(pid) ? [] : pid))
    const news = BackgroundProcesses.of(pids, keeper.script).filter(
      (one) => one.started <= before && !this.told.has(idOf(one))
    )
    for (const one of news) this.told.add(idOf(one))
    return news.length === 0
      ? undefined
      : `Background processes go on, though jobs, wait and $! no longer know them: ${BackgroundProcesses.describe(news)}.`
  }

  private gone(): string | undefined {
    const before = ProcessTable.ticksAt(this.began)
    const lost = this.remembered.filter((one) => one.started < before && BackgroundProcesses.isGone(one))
    this.remembered = []
    return lost.length === 0
      ? undefined
      : `The session's first process was killed, and background processes with it: ${BackgroundProcesses.describe(lost)}.`
  }

  private look(): void {
    const { keeper, shell } = this.running() ?? {}
    if (keeper?.alive !== true || shell === undefined) return
    const pids = ProcessTree.below(keeper.spawned).filter((pid) => pid !== shell.hostPid)
    this.remembered = BackgroundProcesses.of(pids, keeper.script)
  }
}
