/** Sends signals to processes, and tells which process must not get one yet. */
import * as Fs from "node:fs"
import * as Os from "node:os"

const exe = (pid: number): string | undefined => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

const status = (pid: number): string | undefined => {
  try {
    return Fs.readFileSync(`/proc/${pid}/status`, "latin1")
  } catch {
    return undefined
  }
}

/**
 * Tests whether a process is a fork of the shell that has not reset the shell's traps yet. SIGINT would take such a
 * fork back to the shell's main loop, where it would read the next commands as a second shell. A fork resets the traps
 * after its handler of SIGINT, and the trap on SIGURG is set whenever a command runs.
 */
export const isNascent = (pid: number, shell: number): boolean => {
  const caught = /^SigCgt:\s*(\S+)$/m.exec(status(pid) ?? "")?.[1]
  const bit = 1n << BigInt(Os.constants.signals.SIGURG - 1)
  return caught !== undefined && (BigInt(`0x${caught}`) & bit) !== 0n && exe(pid) === exe(shell)
}

/** Sends a signal; ignores that the process is gone already. */
export const send = (pid: number, name: NodeJS.Signals): void => {
  // 0 is our own group, -1 is everybody.
  if (Math.abs(pid) <= 1) return
  try {
    process.kill(pid, name)
  } catch {
    // Gone, or no longer ours to signal.
  }
}

/** Signals a whole process group at once, which also reaches processes that fork faster than they can be listed. */
export const sendToGroup = (group: number, name: NodeJS.Signals): void => {
  if (group > 1) send(-group, name)
}
