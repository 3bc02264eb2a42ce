/**
 * Feeds commands to a running shell, one at a time.
 *
 * It is written with callbacks because every command passes through it, and its time counts.
 */
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { Job } from "../Job.js"
import type { Settings } from "../SessionSettings.js"
import type { Surroundings } from "../ShellBridge.js"
import { CommandDelivery, type Fed, type ReadyShell } from "./CommandDelivery.js"
import * as CommandMark from "./CommandMark.js"
import type { CommandRun } from "./CommandRun.js"
import * as Interruption from "./Interruption.js"
import type { SessionState } from "./SessionState.js"
import type { Shell } from "./Shell.js"

/** Milliseconds after which the output of a command is read as it comes; until then it is read at the end. */
const longRun = 3

/** Feeds commands, and keeps track of the one that runs. */
export class CommandFeeder {
  private active: CommandDelivery | undefined
  /** Called when the running command has ended. */
  private onEnded: () => void = () => {}
  private readonly longRunTimer: NodeJS.Timeout
  /** The mark that the last shell has set for its next command. */
  private readonly marked: { shell: Shell | undefined; mark: string } = { shell: undefined, mark: "" }

  constructor(
    private readonly settings: Settings,
    private readonly state: SessionState,
    private readonly patience = Interruption.defaultPatience
  ) {
    this.longRunTimer = setTimeout(() => this.onLongRun(), longRun).unref()
  }

  /** The command that runs; undefined where none does. */
  get job(): Job | undefined {
    return this.active?.run.job
  }

  /** The facts about the command that runs, for the calls from within it. */
  get surroundings(): Surroundings {
    const { input, listener } = this.job ?? {}
    return { input, room: listener?.takesAll === true ? undefined : this.settings.outputLimit, listener }
  }

  /** Runs a command; `done` is called once, with its outcome. Returns undefined where that has happened already. */
  feed(job: Job, ready: ReadyShell, done: (fed: Fed) => void): CommandRun | undefined {
    const { pipes, plumbing, shell } = ready
    const { directory, pool } = plumbing
    try {
      plumbing.calls.offer(job.text)
      directory.writeCommand(job.text)
    } catch (error) {
      pool.give(pipes)
      const what = error instanceof Error ? error.message : String(error)
      const reason = `the command could not be handed over, and has not run: ${what} (${directory.path})`
      done({ _tag: "NotHandedOver", error: new ExecutionFailed({ kind: "io", reason }) })
      return undefined
    }
    const { marked, patience, settings, state } = this
    const mark = marked.shell === shell ? marked.mark : undefined
    const nextMark = CommandMark.make(directory.sessionId)
    marked.shell = shell
    marked.mark = nextMark
    const active = new CommandDelivery(job, ready, { mark, nextMark, patience, settings, state }, (fed) => {
      this.active = undefined
      done(fed)
      this.onEnded()
    })
    this.active = active
    active.begin()
    this.longRunTimer.refresh()
    return active.run
  }

  /** Stops the running command and its shell, so that nothing more of it runs, but for callers of our commands. */
  freeze(): void {
    const { active } = this
    if (active === undefined) return
    const { calls } = active.plumbing
    active.run.freeze(calls.isBusy ? (pid) => calls.isCaller(pid) : () => false)
  }

  /** Kills what `freeze` has stopped; resolves when the command has ended. */
  kill(): Promise<void> {
    const { active } = this
    if (active === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.onEnded = resolve
      active.run.kill()
    })
  }

  /** Stops waiting for the running command to end by itself, because the shell is about to be ended. */
  abandon(): void {
    this.active?.run.abandon()
  }

  /** Releases the timer; no command may be fed after this. */
  close(): void {
    clearTimeout(this.longRunTimer)
  }

  private onLongRun(): void {
    this.active?.attach()
  }
}
