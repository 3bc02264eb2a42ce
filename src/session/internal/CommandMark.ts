/**
 * Marks the processes of each command by a limit that has no effect: the time that a process with a real-time priority
 * may run without a pause. Every child inherits it, whatever it does to its environment, its session, its parents and
 * its descriptors. A shell without that limit (bash before 5.1) marks nothing.
 *
 * A mark is 60 bits: 4 that make the limit longer than any uptime, 28 of the session and 28 of the command.
 */
import * as Fs from "node:fs"

/** The hexadecimal digits of a mark that are the session's. */
const sessionOf = (sessionId: string): string => `4${sessionId.replaceAll("-", "").slice(0, 7)}`

/** Makes a mark, as the limit's decimal number. */
export const make = (sessionId: string): string =>
  BigInt(`0x${sessionOf(sessionId)}${crypto.randomUUID().slice(0, 7)}`).toString()

/** Makes the shell text that marks what follows. Where a command has made the mark impossible, nothing is marked. */
export const set = (mark: string): string => `\\builtin ulimit -SR ${mark}||\\builtin :`

/** Returns the mark of a process; undefined where it has none, or has ended. */
export const of = (pid: number): string | undefined => {
  try {
    const limits = Fs.readFileSync(`/proc/${pid}/limits`, "latin1")
    return /^Max realtime timeout +(\d{18})\b/m.exec(limits)?.[1]
  } catch {
    return undefined
  }
}

/** Tests whether a mark is of one of the session's commands. */
export const isOfSession = (mark: string | undefined, sessionId: string): boolean =>
  mark !== undefined && BigInt(mark).toString(16).slice(0, 8) === sessionOf(sessionId)
