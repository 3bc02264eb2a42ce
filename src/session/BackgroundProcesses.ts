/**
 * Names the processes that a session has running in the background.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ProcessFiles from "./ProcessFiles.js"
import * as ProcessTree from "./ProcessTree.js"

/**
 * A process in the background.
 *
 * @since 0.1.0
 * @category models
 */
export interface BackgroundProcess {
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
 * Looks at processes. Those that have ended are left out, and those that run `script`: the keeper, and what is around it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (pids: ReadonlyArray<number>, script: string): ReadonlyArray<BackgroundProcess> =>
  pids.flatMap((pid) => {
    const started = ProcessFiles.stat(pid)?.started
    const words = read(`/proc/${pid}/cmdline`)
    // A process without a command line is one that is just ending.
    if (started === undefined || words === "" || words.endsWith(`\0${script}\0`)) return []
    const line = isShells(words) ? "(a subshell)" : legible(words.slice(0, 4096))
    return [{ pid, inner: ProcessTree.innerPid(pid), started, line }]
  })

/**
 * Tests whether a process has ended. In a PID namespace of its own it has as soon as that is torn down.
 *
 * @since 0.1.0
 * @category guards
 */
export const isGone = ({ inner, pid, started }: BackgroundProcess): boolean =>
  inner !== pid || ProcessFiles.stat(pid)?.started !== started

/**
 * Describes processes in a few words: the pid and the command line of the first ones.
 *
 * @since 0.1.0
 * @category conversions
 */
export const describe = (processes: ReadonlyArray<BackgroundProcess>): string => {
  const named = processes.slice(0, mostNamed).map(({ inner, line }) => `${inner} ${line}`)
  const more = processes.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join("; ")
}
