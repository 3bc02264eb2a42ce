/**
 * Feeds commands to a running shell, one at a time.
 *
 * It is written with callbacks because every command passes through it, and its time counts.
 *
 * @since 0.1.0
 */
import { ExecutionFailed } from "../domain/CommandError.js"
import * as CommandMark from "./CommandMark.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import { CommandStdin } from "./CommandStdin.js"
import * as Interruption from "./Interruption.js"
import type { Job } from "./Job.js"
import * as Nonce from "./Nonce.js"
import * as OwnDescriptors from "./OwnDescriptors.js"
import type { PipePair } from "./PipePool.js"
import type { Plumbing } from "./Plumbing.js"
import * as ProcessTable from "./ProcessTable.js"
import * as PromptWatch from "./PromptWatch.js"
import * as Protocol from "./Protocol.js"
import * as ProtocolInput from "./ProtocolInput.js"
import type { Settings } from "./SessionSettings.js"
import type { SessionState } from "./SessionState.js"
import type { Shell } from "./Shell.js"
import type { Surroundings } from "./ShellBridge.js"

/** Milliseconds after which the output of a command is read as it comes; until then it is read at the end. */
const longRun = 3

/** The most characters of a text that are looked through for what it may do; a longer one may do anything. */
const longestRead = 256 * 1024

/** Tests whether a text has several commands, which may write to both streams in turn before the output is read as it comes. */
const mayAlternate = (text: string): boolean =>
  text.length > longestRead || /[;&|({`]/.test(text) || text.trim().includes("\n")

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
  | {
      readonly _tag: "Ran"
      readonly outcome: Outcome
      readonly missing: string | undefined
      /** The mark of its processes (`CommandMark`), where that is known. */
      readonly mark: string | undefined
    }
  | { readonly _tag: "NotBegun"; readonly exitCode: number }
  | { readonly _tag: "Unable"; readonly shell: Shell }
  | { readonly _tag: "NotHandedOver"; readonly error: ExecutionFailed }

/** Tests whether a command may kill the shell's parent, and a sandbox with it. */
const mayOrphan = (text: string): boolean => text.length > longestRead || /\bPPID\b|\bp?kill/.test(text)

/** The most milliseconds in which a shell whose parent was killed has ended, so that the result tells it. */
const orphaned = 5000

/** The most times that a command's lines are written to a shell which does not read them. */
const attempts = 3

/** Tells what was killed at a prompt, so that the shell could go on. */
const eaten = (names: ReadonlyArray<string>, isInterrupted: boolean): string =>
  `${names.length === 0 ? "A builtin" : names.join(", ")} waited for input while no command ran (in a trap or a prompt's ` +
  `command) and was stopped: give it </dev/null there.${isInterrupted ? " Traps on signals may be gone: see trap -p." : ""}`

const unsure =
  "The exit code may not be the command's own: a variable named __synapse_… is readonly, or the shell may open too few files (ulimit -n)."

/** Code that bash gives a command which an interrupt has ended. */
const interrupted = 130

interface ActiveCommand {
  readonly run: CommandRun
  readonly plumbing: Plumbing
  /** Looks after the shell, should it be stuck. */
  readonly watch: () => () => void
  endWatch: () => void
}

/**
 * Feeds commands, and keeps track of the one that runs.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandFeeder {
  private active: ActiveCommand | undefined
  /** Called when the running command has ended. */
  private onEnded: () => void = () => {}
  private readonly longRunTimer: NodeJS.Timeout
  /** The mark that the last shell has set for its next command. */
  private marked: { readonly shell: Shell; readonly mark: string } | undefined

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
    const nextMark = CommandMark.make(directory.sessionId)
    const mark = this.marked?.shell === shell ? this.marked.mark : undefined
    const known = { mark, nextMark, isExiting: () => plumbing.isStateWritten }
    this.marked = { shell, mark: nextMark }
    const before = this.state.takeBefore(job.text)
    const run = new CommandRun(job, shell, pool, pipes, directory, this.settings, this.patience, known, before.exits)
    const stdin = job.stdin === undefined ? undefined : new CommandStdin(directory.stdin, job.stdin)
    /** True once the shell has reported all that it has to report of this command. */
    let isHeard = false
    let left = attempts
    let nonces = Nonce.makePair()
    const probe = () =>
      `${before.closes ? OwnDescriptors.checkLeft(pipes.paths) : ""}${Protocol.probe(nonces, nextMark)}`
    const active: ActiveCommand = {
      run,
      plumbing,
      watch: () =>
        PromptWatch.begin({
          shell,
          state: directory.state,
          isOver: () => isHeard,
          probe,
          onFreed: (...freed) => this.state.noteOnce(eaten(...freed))
        }),
      endWatch: () => {}
    }
    this.active = active
    run.onStop = () => shell.write(probe())
    const end = (fed: Fed) => {
      this.active = undefined
      done(fed)
      this.onEnded()
    }
    const giveBack = (fed: Fed) => {
      isHeard = true
      active.endWatch()
      stdin?.close()
      run.giveBack()
      end(fed)
    }
    const finish = (status: number) => {
      isHeard = true
      active.endWatch()
      stdin?.close()
      const missing = plumbing.takeMissing()
      const tell = (outcome: Outcome) => {
        const ran: Fed = { _tag: "Ran", outcome, missing, mark }
        if (status !== 1 || run.heard > 0 || !shell.alive) return end(ran)
        // The shell's own messages arrive with the next turn of the event loop.
        setImmediate(() => end(pipes.refusedBy(shell.complaint) ? { _tag: "Unable", shell } : ran))
      }
      void run.finish(status).then((outcome) => {
        this.state.end(status, outcome.stderr.text)
        if (!mayOrphan(job.text) || !shell.isOrphan) return tell(outcome)
        const patience = new Promise((resolve) => setTimeout(resolve, orphaned).unref())
        // What the end of the shell costs is known one turn of the event loop later.
        void Promise.race([shell.ended, patience]).then(() => setImmediate(() => tell(outcome)))
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
      // What is reported here comes after the command's own line, which has not run then, and never will.
      if (!run.begun) {
        const eaters = ProtocolInput.reserve(shell.pid, shell.keptSince)
        if (eaters.length > 0) this.state.noteOnce(eaten(eaters, false))
        if (--left === 0) return giveBack({ _tag: "Unable", shell })
        nonces = Nonce.makePair()
        return deliver()
      }
      if (before.exits && frame.sure) this.state.learnExitTrap(plumbing.takeState())
      this.state.learn(frame.cwd.startsWith("/") ? frame : { ...frame, cwd: ProcessTable.cwdOf(shell.pid) })
      if (!frame.sure && run.stopped === undefined && frame.status !== interrupted) this.state.note(unsure)
      finish(frame.status)
    }
    const onExit = (exitCode: number) => {
      if (isHeard) return
      if (run.begun || run.stopped !== undefined) return finish(exitCode)
      giveBack({ _tag: "NotBegun", exitCode })
    }
    const paths = stdin === undefined ? pipes.paths : { ...pipes.paths, stdin: directory.stdin }
    const deliver = () => {
      shell.hear(nonces.ended, { onFrame, onExit })
      shell.frames.expect(nonces.ended, nonces.begun)
      shell.write(Protocol.run(directory, paths, nonces, before, nextMark))
    }
    if (mayAlternate(job.text)) run.watch()
    deliver()
    stdin?.open()
    this.longRunTimer.refresh()
    return run
  }

  /** Stops the running command and its shell, so that nothing more of it runs, but for callers of our commands. */
  freeze(): void {
    const { plumbing, run } = this.active ?? {}
    if (plumbing === undefined || run === undefined) return
    const { calls } = plumbing
    run.freeze(calls.isBusy ? (pid) => calls.isCaller(pid) : () => false)
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
    if (this.active === undefined || this.active.run.over) return
    this.active.run.attach()
    this.active.plumbing.attach()
    this.active.endWatch = this.active.watch()
  }
}
