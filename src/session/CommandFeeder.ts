/**
 * Feeds commands to a running shell, one at a time.
 *
 * It is written with callbacks because every command passes through it, and its time counts.
 *
 * @since 0.1.0
 */
import { ExecutionFailed } from "../domain/CommandError.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import * as Interruption from "./Interruption.js"
import type { Job } from "./Job.js"
import type { PipePair } from "./PipePool.js"
import type { Plumbing } from "./Plumbing.js"
import * as Protocol from "./Protocol.js"
import type { Settings } from "./SessionSettings.js"
import type { SessionState } from "./SessionState.js"
import type { Shell } from "./Shell.js"

/** Milliseconds after which the output of a command is read as it comes; until then it is read at the end. */
const longRun = 3

/**
 * A shell that is ready for a command, with the pipes for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadyShell {
  readonly shell: Shell
  readonly plumbing: Plumbing
  readonly pipes: PipePair
}

/**
 * The outcome of feeding a command. `Ran`: it ran; `missing` is the last command that bash did not find. `NotBegun`:
 * the shell ended before it began the command. `Unable`: the shell can't run commands any more, because something that
 * it needs is disabled, redefined or forbidden. `NotHandedOver`: the command's text could not be written.
 *
 * @since 0.1.0
 * @category models
 */
export type Fed =
  | { readonly _tag: "Ran"; readonly outcome: Outcome; readonly missing: string | undefined }
  | { readonly _tag: "NotBegun"; readonly exitCode: number }
  | { readonly _tag: "Unable"; readonly shell: Shell }
  | { readonly _tag: "NotHandedOver"; readonly error: ExecutionFailed }

/**
 * Feeds commands, and keeps track of the one that runs.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandFeeder {
  private active: { readonly run: CommandRun; readonly plumbing: Plumbing } | undefined
  /** The number of status frames in a row whose exit code may not be the command's own. */
  private unsure = 0
  private readonly longRunTimer: NodeJS.Timeout

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

  /** Runs a command; `done` is called once, with its outcome. Returns undefined where that has happened already. */
  feed(job: Job, ready: ReadyShell, done: (fed: Fed) => void): CommandRun | undefined {
    const { pipes, plumbing, shell } = ready
    const { directory, pool } = plumbing
    try {
      plumbing.calls.offer()
      directory.writeCommand(job.text)
    } catch (error) {
      pool.give(pipes)
      const reason = `the command could not be handed over: ${error instanceof Error ? error.message : String(error)}`
      done({ _tag: "NotHandedOver", error: new ExecutionFailed({ kind: "io", reason }) })
      return undefined
    }
    const run = new CommandRun(job, shell, pool, pipes, directory, this.settings, this.patience)
    this.active = { run, plumbing }
    /** True once the shell has reported all that it has to report of this command. */
    let isHeard = false
    const end = (fed: Fed) => {
      this.active = undefined
      done(fed)
    }
    const giveBack = (fed: Fed) => {
      isHeard = true
      run.giveBack()
      end(fed)
    }
    const finish = (status: number) => {
      isHeard = true
      this.state.status = status
      const missing = plumbing.takeMissing()
      void run.finish(status).then((outcome) => {
        if (status !== 1 || run.heard > 0 || !shell.alive) return end({ _tag: "Ran", outcome, missing })
        // The shell's own messages arrive with the next turn of the event loop.
        setImmediate(() =>
          end(pipes.refusedBy(shell.complaint) ? { _tag: "Unable", shell } : { _tag: "Ran", outcome, missing })
        )
      })
    }
    const onFrame = (body: string) => {
      if (isHeard) return
      if (body === "A") {
        run.begun = true
        return
      }
      const frame = shell.frames.status(body)
      if (frame === undefined) return
      if (!run.begun) return giveBack({ _tag: "Unable", shell })
      // An interruption may have hit the reserved word itself; a command that is ended has no code of its own to hide.
      if (!frame.sure && run.stopped === undefined) {
        // Removing the aliases did not help: something else hides the exit code, and would forever.
        if (this.unsure++ > 0) return giveBack({ _tag: "Unable", shell })
        this.reveal(shell)
      } else this.unsure = 0
      this.state.reply = frame.reply
      if (frame.cwd !== "") this.state.cwd = frame.cwd
      finish(frame.status)
    }
    const onExit = (exitCode: number) => {
      this.unsure = 0
      if (isHeard) return
      if (run.begun || run.stopped !== undefined) return finish(exitCode)
      giveBack({ _tag: "NotBegun", exitCode })
    }
    const nonce = Protocol.makeNonce()
    shell.hear(nonce, { onFrame, onExit })
    if (this.state.reply !== "") shell.write(Protocol.setReply(this.state.reply))
    shell.write(Protocol.run(directory, pipes.paths, nonce, this.state.status))
    this.longRunTimer.refresh()
    return run
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
    if (this.active === undefined || this.active.run.over) return
    this.active.run.attach()
    this.active.plumbing.attach()
  }

  private reveal(shell: Shell): void {
    shell.write(Protocol.dropAliases)
    this.state.note(
      "The exit code is not the command's own: an alias with the name of a reserved word (select, in, do or done) hides it. " +
        "Such aliases were removed."
    )
  }
}
