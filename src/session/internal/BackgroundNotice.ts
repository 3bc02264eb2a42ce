/** Tells what became of a session's background processes when a shell has ended. */

import * as Fs from "node:fs"
import * as Attempt from "../../domain/Attempt.js"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionProcesses } from "../SessionProcesses.js"
import type * as Shell from "./ShellSupervisor.js"
import type { ShellSupervisor } from "./ShellSupervisor.js"

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

const read = (path: string): string => Attempt.orElse(() => Fs.readFileSync(path, "utf8"), "")

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

/** Describes processes in a few words: the pid and the command line of the first ones. */
const describe = (processes: ReadonlyArray<BackgroundProcess>): string => {
  const named = processes.slice(0, mostNamed).map(({ inner, line }) => `${inner} ${line}`)
  const more = processes.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")
}

const idOf = ({ pid, started }: BackgroundProcess) => `${pid} ${started}`

/** Tells of each background process once. */
export class BackgroundNotice {
  private readonly told = new Set<string>()

  constructor(
    private readonly processes: SessionProcesses,
    /** Returns the shell that runs. */
    private readonly running: () => Shell.Shell | undefined
  ) {}

  /** Forgets everything, for the processes are ended on purpose. */
  reset(): void {
    this.told.clear()
  }

  /** Returns the notice of a shell's end, to be made when the result is. */
  of(supervisor: ShellSupervisor): () => string | undefined {
    const ended = performance.now()
    return () =>
      supervisor.isAllGone
        ? "The session's first process was killed, and all background processes with it."
        : this.goingOn(supervisor, ended)
  }

  private goingOn(supervisor: ShellSupervisor, ended: number): string | undefined {
    const before = ProcessTable.ticksAt(ended) + ProcessTable.early
    const next = this.running()?.hostPid
    const known = new Set(next === undefined ? [] : [next, ...ProcessTable.below(next)])
    const pids = this.processes.members(supervisor.spawned).flatMap(({ pid }) => (known.has(pid) ? [] : pid))
    const news = of(pids, supervisor.script).filter((one) => one.started <= before && !this.told.has(idOf(one)))
    for (const one of news) this.told.add(idOf(one))
    return news.length === 0
      ? undefined
      : `Background processes go on, though jobs, wait and $! no longer know them: ${describe(news)}.`
  }
}
