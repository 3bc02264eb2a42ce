/**
 * Finds what would read the protocol's lines in a shell's place: a process that holds the socket which is the standard
 * input of the shells, because a trap or a prompt's command has started it.
 */
import * as Fs from "node:fs"
import * as ProcessFiles from "../ProcessFiles.js"
import * as ProcessTable from "../ProcessTable.js"
import * as ProcessSignals from "./ProcessSignals.js"

/** The most processes above another one. */
const maxParents = 64

/** Returns the name of the file that is a process's standard input; empty where the process is gone. */
export const of = (pid: number): string => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/fd/0`)
  } catch {
    return ""
  }
}

/**
 * Returns the pids of all that hold the standard input `file` and were started after `since` (`ProcessTable.ticksAt`):
 * what is older is a wrapper's own. `reader`, which is to read it, and those above it do not count.
 */
export const holders = (file: string, reader: number, since: number): ReadonlyArray<number> => {
  const rightful = new Set<number>()
  for (let pid = reader; pid > 0 && rightful.size < maxParents; pid = ProcessFiles.stat(pid)?.parent ?? 0) {
    rightful.add(pid)
  }
  // The other end of a pipe has the same name; and bash keeps what a redirection has put aside as a descriptor that is
  // closed with the next program: a subshell in the background has a copy, which it never reads.
  const canRead = (pid: number, { file: name, number, writes }: ProcessFiles.Descriptor) =>
    (!writes || !name.startsWith("pipe:")) && (number === 0 || !ProcessFiles.closesOnExec(pid, number))
  const holds = (pid: number) =>
    ProcessFiles.descriptors(pid, "all", (name) => name === file).some((one) => canRead(pid, one))
  return ProcessTable.list().flatMap(({ pid, started }) =>
    started > since && !rightful.has(pid) && holds(pid) ? [pid] : []
  )
}

/** Tests for a file that no process has but by inheritance from this one: `/dev/null` is everybody's standard input. */
const isPrivate = (file: string): boolean => /^(socket|pipe):\[\d+\]$/.test(file)

/** The most looks for processes that start others while they are killed. */
const maxLooks = 20

/**
 * Kills all that hold the standard input of `reader` (`holders`), and returns their names. Kills nothing where that is
 * neither a socket nor a pipe: then `reader` has ended, and its pid may be another's.
 */
export const reserve = (reader: number, since: number): ReadonlyArray<string> => {
  const file = of(reader)
  const names = new Set<string>()
  for (let look = 0; look < maxLooks && isPrivate(file); look++) {
    const found = holders(file, reader, since)
    if (found.length === 0) break
    for (const pid of found) {
      // A shell that was killed lets go of it in a moment.
      if (!ProcessFiles.isKilled(pid)) names.add(ProcessFiles.name(pid))
      ProcessSignals.send(pid, "SIGKILL")
    }
  }
  return [...names]
}
