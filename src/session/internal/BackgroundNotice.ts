/** Tells what became of a session's background processes when a shell has ended. */

import * as Fs from "node:fs"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionProcesses } from "../SessionProcesses.js"
import type * as Shell from "./ShellSupervisor.js"
import type { ShellSupervisor } from "./ShellSupervisor.js"

/** A process in the background. */
interface BackgroundProcess {
  /** The pid in this process's PID namespace. */
  readonly pid: number
  /** The pid that the session's shells see. */
  readonly inner: number
  /** The start time, as in `ProcessTable`. */
  readonly started: number
  /** The command line, cut, without characters that a terminal or a reader could take for something else. */
  readonly line: string
}

/** The most processes that are named, and the most characters of each. */
const mostNamed = 5
const mostCharacters = 60

const read = (path: string): string => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const legible = (text: string): string => {
  const characters = [
    ...text.replaceAll(/[\0\s]+/gu, " ").replaceAll(/[\p{C}\p{Z}]/gu, (one) => (one === " " ? one : "?"))
  ]
  return characters.length > mostCharacters
    ? `${characters.slice(0, mostCharacters - 1).join("")}…`
    : characters.join("").trim()
}

/** Tests for the command line of the session's own shell, which a fork of it has too. */
const isShells = (words: string) => words.endsWith("\0--norc\0--noprofile\0--noediting\0-i\0")

/**
 * Looks at processes. Those that have ended are left out, and those that run `script`: the supervisor, and what is around it.
 */
const of = (pids: ReadonlyArray<number>, script: string): ReadonlyArray<BackgroundProcess> =>
  pids.flatMap((pid) => {
    const started = ProcessTable.stat(pid)?.started
    const words = read(`/proc/${pid}/cmdline`)
    // A process without a command line is one that is just ending.
    if (started === undefined || words === "" || words.endsWith(`\0${script}\0`)) return []
    const line = isShells(words) ? "(a subshell)" : legible(words.slice(0, 4096))
    return [{ pid, inner: ProcessTable.innerPid(pid), started, line }]
  })

/** Tests whether a process has ended. In a PID namespace of its own it has as soon as that is torn down. */
const isGone = ({ inner, pid, started }: BackgroundProcess): boolean =>
  inner !== pid || ProcessTable.stat(pid)?.started !== started

/** Describes processes in a few words: the pid and the command line of the first ones. */
const describe = (processes: ReadonlyArray<BackgroundProcess>): string => {
  const named = processes.slice(0, mostNamed).map(({ inner, line }) => `${inner} ${line}`)
  const more = processes.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")
}

/** A shell and its supervisor. */
interface Running {
  readonly supervisor: ShellSupervisor
  readonly shell: Shell.Shell
}

/** Milliseconds after the beginning of the last command at which the processes are looked at. */
const lookAfter = 100

const idOf = ({ pid, started }: BackgroundProcess) => `${pid} ${started}`

/**
 * Remembers the background processes of a session, for a supervisor that is killed takes them along, and who asks then
 * finds none of them.
 */
export class BackgroundNotice {
  private readonly told = new Set<string>()
  private remembered: ReadonlyArray<BackgroundProcess> = []
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
  of(supervisor: ShellSupervisor): () => string | undefined {
    const ended = performance.now()
    return () => (supervisor.alive ? this.goingOn(supervisor, ended) : this.gone())
  }

  private goingOn(supervisor: ShellSupervisor, ended: number): string | undefined {
    const before = ProcessTable.ticksAt(ended) + ProcessTable.early
    const next = this.running()?.shell.hostPid
    const known = new Set(next === undefined ? [] : [next, ...ProcessTable.below(next)])
    const pids = this.processes.members(supervisor.spawned).flatMap(({ pid }) => (known.has(pid) ? [] : pid))
    const news = of(pids, supervisor.script).filter((one) => one.started <= before && !this.told.has(idOf(one)))
    for (const one of news) this.told.add(idOf(one))
    return news.length === 0
      ? undefined
      : `Background processes go on, though jobs, wait and $! no longer know them: ${describe(news)}.`
  }

  private gone(): string | undefined {
    const before = ProcessTable.ticksAt(this.began)
    const lost = this.remembered.filter((one) => one.started < before && isGone(one))
    this.remembered = []
    return lost.length === 0
      ? undefined
      : `The session's first process was killed, and background processes with it: ${describe(lost)}.`
  }

  private look(): void {
    const { supervisor, shell } = this.running() ?? {}
    if (supervisor?.alive !== true || shell === undefined) return
    const pids = ProcessTable.below(supervisor.spawned).filter((pid) => pid !== shell.hostPid)
    this.remembered = of(pids, supervisor.script)
  }
}
