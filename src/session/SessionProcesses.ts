/**
 * Finds the processes that a session has started, and ends them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as Schedule from "effect/Schedule"
import * as ProcessTable from "./ProcessTable.js"

/**
 * Milliseconds that programs have to end by themselves: a shell for its EXIT trap, a server for its shutdown.
 *
 * @since 0.1.0
 */
export const farewell = 300

/** Milliseconds between two looks at what is left. */
const pollEvery = 10

/** Milliseconds after which the rest is left alone: what another user owns (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/**
 * Finds a session's processes by their ancestor, and by the mark in their environment.
 *
 * @since 0.1.0
 * @category models
 */
export class SessionProcesses {
  /** The value of the mark (`ShellEnvironment.sessionVariable`). */
  readonly sessionId = crypto.randomUUID()
  private readonly since = ProcessTable.ticksAt(performance.now())

  /**
   * Asks all processes to end, and kills those that do not. `lead` is the pid of the spawned shell, 0 where there is
   * none.
   */
  end(lead: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const began = performance.now()
      let isAsked = false
      const step = Effect.sync(() => {
        const left = this.members(lead)
        const elapsed = performance.now() - began
        if (left.length === 0 || elapsed > giveUp) return true
        if (elapsed >= farewell) this.killAll(left, lead)
        else if (!isAsked) {
          // An interactive bash ignores SIGTERM.
          for (const one of left) ProcessTable.signal(one.pid, one.pid === lead ? "SIGHUP" : "SIGTERM")
        }
        isAsked = true
        return false
      })
      return Effect.asVoid(Effect.repeat(step, { until: (isOver) => isOver, schedule: Schedule.spaced(pollEvery) }))
    })
  }

  /** Kills all processes, without waiting. */
  kill(lead: number): void {
    this.killAll(this.members(lead), lead)
  }

  private members(lead: number) {
    return ProcessTable.members(lead, this.sessionId, this.since)
  }

  private killAll(processes: ReadonlyArray<ProcessTable.Process>, lead: number): void {
    for (const one of processes) {
      if (one.group === lead) ProcessTable.killGroup(lead)
      ProcessTable.signal(one.pid, "SIGKILL")
    }
  }
}

/** The sessions that are open in this process, with one exit listener for all of them. */
const open = GlobalValue.globalValue("synapse/SessionProcesses/open", () => {
  const aborts = new Set<() => void>()
  process.on("exit", () => {
    for (const abort of aborts) {
      try {
        abort()
      } catch {
        // The other sessions have to end all the same.
      }
    }
  })
  return aborts
})

/**
 * Calls `abort` if this process exits (by a second Ctrl-C, `process.exit`) before the returned function is called.
 *
 * @since 0.1.0
 */
export const atExit = (abort: () => void): (() => void) => {
  open.add(abort)
  return () => void open.delete(abort)
}
