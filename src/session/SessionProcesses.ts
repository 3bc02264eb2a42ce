/** Finds and ends the processes that a session has started. */
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Attempt from "../domain/Attempt.js"
import * as ProcessTable from "./ProcessTable.js"
import * as RandomText from "./RandomText.js"

/** Milliseconds that programs have to end by themselves: a shell for its EXIT trap, a server for its shutdown. */
export const farewell = 300

/** Milliseconds between two checks of what is left. */
const pollEvery = 10

/** Milliseconds after which the rest is left alone: another user's processes (sudo) can't be ended from here. */
const giveUp = 4 * farewell

/** The most checks for processes started while the others were being stopped. They block the event loop. */
const mostLooks = 10

/** Finds a session's processes by their ancestor and by the mark in their environment and limits. */
export class SessionProcesses {
  /** The value of the variable that marks the processes (`ShellEnvironment.sessionVariable`). */
  readonly sessionId = RandomText.make(16)
  private readonly since = ProcessTable.ticksAt(performance.now())
  private readonly births = ProcessTable.countBirths()

  /** Asks all processes to end, then kills the rest. `lead` is the spawned process's pid, or 0. */
  end(lead: number, shell: number | undefined): Effect.Effect<void> {
    return Effect.suspend(() => {
      const began = performance.now()
      let isAsked = false
      const step = Effect.sync(() => {
        const left = this.members(lead)
        const elapsed = performance.now() - began
        if (left.length === 0 || elapsed > giveUp) return true
        if (elapsed >= farewell) this.kill(lead)
        else if (!isAsked) {
          // An interactive bash ignores SIGTERM.
          const isShell = (pid: number) => pid === lead || pid === shell
          for (const one of left) ProcessTable.send(one.pid, isShell(one.pid) ? "SIGHUP" : "SIGTERM")
        }
        isAsked = true
        return false
      })
      return Effect.asVoid(Effect.repeat(step, { until: (isOver) => isOver, schedule: Schedule.spaced(pollEvery) }))
    })
  }

  members(lead: number): ReadonlyArray<ProcessTable.Process> {
    return ProcessTable.members(lead, this.sessionId, this.since, this.births())
  }

  /** Kills all processes without waiting. Stops them first, since one that keeps forking would escape. */
  kill(lead: number): void {
    const frozen = new Map<number, ProcessTable.Process>()
    for (let look = 0; look < mostLooks; look++) {
      const fresh = this.members(lead).filter(({ pid }) => !frozen.has(pid))
      if (fresh.length === 0) break
      for (const one of fresh) {
        frozen.set(one.pid, one)
        signalAll(one, lead, "SIGSTOP")
      }
    }
    for (const one of frozen.values()) signalAll(one, lead, "SIGKILL")
  }
}

/** Signals a process, and its group if that is the session's. No fork escapes a signal to its group. */
const signalAll = (one: ProcessTable.Process, lead: number, name: "SIGSTOP" | "SIGKILL"): void => {
  // A group lies in one process session, and each shell has its own group in the supervisor's session.
  if (one.session === lead) ProcessTable.sendToGroup(one.group, name)
  ProcessTable.send(one.pid, name)
}

/** The open sessions of this process, with one exit listener for all of them. */
const open = GlobalValue.globalValue("synapse/SessionProcesses/open", () => {
  const aborts = new Set<() => unknown>()
  process.on("exit", () => {
    for (const abort of aborts) {
      // An error must not keep the other sessions from ending.
      Attempt.ignore(abort)
    }
  })
  return aborts
})

/** Calls `abort` if this process exits (by a second Ctrl-C, `process.exit`) before the returned function is called. */
export const atExit = (abort: () => unknown): (() => void) => {
  open.add(abort)
  return () => void open.delete(abort)
}

/** Acquires a resource that is released when the scope closes, or when this process exits first. */
export const acquire = <A, E>(
  acquiring: Effect.Effect<A, E>,
  release: (acquired: A) => void
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.map(acquiring, (acquired) => ({ acquired, forget: atExit(() => release(acquired)) })),
      ({ acquired, forget }) =>
        Effect.sync(() => {
          forget()
          release(acquired)
        })
    ),
    ({ acquired }) => acquired
  )
