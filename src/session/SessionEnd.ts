/**
 * Ends what a session has started.
 *
 * @since 0.1.0
 */
import * as GlobalValue from "effect/GlobalValue"
import * as ProcessTable from "./ProcessTable.js"

/**
 * Milliseconds that programs have for their own end: a shell's EXIT trap, a server's shutdown.
 *
 * @since 0.1.0
 */
export const farewell = 300

const pollEvery = 10

/** What another user owns (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/**
 * @since 0.1.0
 */
export const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/**
 * Asks every process of the session to end, and kills what does not. `lead` is the spawned shell's pid, 0 where there is none.
 *
 * @since 0.1.0
 */
export const endMembers = async (lead: number, sessionId: string, since: number): Promise<void> => {
  const members = () => ProcessTable.members(lead, sessionId, since)
  const began = performance.now()
  let asked = false
  for (let left = members(); left.length > 0; left = members()) {
    const elapsed = performance.now() - began
    if (elapsed > giveUp) return
    for (const one of left) {
      if (elapsed >= farewell) {
        if (one.group === lead) ProcessTable.killGroup(lead)
        ProcessTable.signal(one.pid, "SIGKILL")
        // An interactive bash ignores SIGTERM.
      } else if (!asked) ProcessTable.signal(one.pid, one.pid === lead ? "SIGHUP" : "SIGTERM")
    }
    asked = true
    await pause(pollEvery)
  }
}

/**
 * Kills every process of the session, without waiting.
 *
 * @since 0.1.0
 */
export const killMembers = (lead: number, sessionId: string, since: number): void => {
  for (const one of ProcessTable.members(lead, sessionId, since)) {
    if (one.group === lead) ProcessTable.killGroup(lead)
    ProcessTable.signal(one.pid, "SIGKILL")
  }
}

/** Sessions that are open in this process: one listener for all, whatever their number. */
const open = GlobalValue.globalValue("synapse/SessionEnd/open", () => {
  const aborts = new Set<() => void>()
  process.on("exit", () => {
    for (const abort of aborts) {
      try {
        abort()
      } catch {
        // The others are to end all the same.
      }
    }
  })
  return aborts
})

/**
 * Calls `abort` where this process exits before the function that comes back is called: a second Ctrl-C, `process.exit`.
 *
 * @since 0.1.0
 */
export const atExit = (abort: () => void): (() => void) => {
  open.add(abort)
  return () => void open.delete(abort)
}
