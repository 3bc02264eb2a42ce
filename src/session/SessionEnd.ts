/**
 * Ends what a session has started.
 *
 * @since 0.1.0
 */
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
