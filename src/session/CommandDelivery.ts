/**
 * The way of one command through a shell: its lines are written, the shell reports its begin and its end, and its outcome
 * is collected.
 *
 * @since 0.1.0
 */
import type { ExecutionFailed } from "../domain/CommandError.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import { CommandStdin } from "./CommandStdin.js"
import type * as Interruption from "./Interruption.js"
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
import type { Shell, ShellListener } from "./Shell.js"

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

/**
 * The settings of a delivery, and the marks of its command and the next one (`CommandMark`).
 *
 * @since 0.1.0
 * @category models
 */
export interface DeliveryOptions {
  /** The mark of its processes, where that is known. */
  readonly mark: string | undefined
  readonly nextMark: string
  readonly patience: Interruption.Patience
  readonly settings: Settings
  readonly state: SessionState
}

/**
 * The delivery of one command, from its first line to its outcome.
 *
 * Its parts are fields, not variables that closures share: V8 moves literals whose like has lived long into its old heap,
 * and one that held such a closure kept all of the command alive there until the next full collection.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandDelivery implements ShellListener {
  readonly run: CommandRun
  readonly mark: string | undefined
  readonly nextMark: string
  private readonly shell: Shell
  readonly plumbing: Plumbing
  private readonly pipes: PipePair
  private readonly state: SessionState
  private readonly before: Protocol.Before
  private readonly stdin: CommandStdin | undefined
  private nonces = Nonce.makePair()
  /** The times that its lines may still be written. */
  private left = attempts
  /** True once the shell has reported all that it has to report of this command. */
  private isHeard = false
  private endWatch: (() => void) | undefined

  /** `done` is called once, with the outcome. */
  constructor(
    private readonly job: Job,
    { pipes, plumbing, shell }: ReadyShell,
    { mark, nextMark, patience, settings, state }: DeliveryOptions,
    private readonly done: (fed: Fed) => void
  ) {
    this.mark = mark
    this.nextMark = nextMark
    this.shell = shell
    this.plumbing = plumbing
    this.pipes = pipes
    this.state = state
    this.before = state.takeBefore(job.text)
    this.run = new CommandRun(job, this, shell, plumbing, pipes, settings, patience, this.before.exits)
    this.stdin = job.stdin === undefined ? undefined : new CommandStdin(plumbing.directory.stdin, job.stdin)
  }

  /** Writes the command's lines to the shell. */
  begin(): void {
    if (mayAlternate(this.job.text)) this.run.watch()
    this.deliver()
    this.stdin?.open()
  }

  /** Reads the output as it comes, and looks after the shell, should it be stuck, for a command that runs long. */
  attach(): void {
    if (this.run.over) return
    this.run.attach()
    this.plumbing.attach()
    this.endWatch = PromptWatch.begin({
      shell: this.shell,
      state: this.plumbing.directory.state,
      isOver: () => this.isHeard,
      probe: () => this.probe,
      onFreed: (names, isInterrupted) => this.state.noteOnce(eaten(names, isInterrupted))
    })
  }

  /** Makes the shell report where it is. */
  hurry(): void {
    this.shell.write(this.probe)
  }

  /** True once a shell that ends has written all of its state. */
  get isExiting(): boolean {
    return this.plumbing.isStateWritten
  }

  onFrame(body: string): void {
    if (this.isHeard) return
    const { before, run, shell, state } = this
    if (body === "A") {
      run.begun = true
      return
    }
    const frame = shell.frames.status(body)
    if (frame === undefined) return
    // What is reported here comes after the command's own line, which has not run then, and never will.
    if (!run.begun) {
      const eaters = ProtocolInput.reserve(shell.pid, shell.keptSince)
      if (eaters.length > 0) state.noteOnce(eaten(eaters, false))
      if (--this.left === 0) return this.giveBack({ _tag: "Unable", shell })
      this.nonces = Nonce.makePair()
      return this.deliver()
    }
    if (before.exits && frame.sure) state.learnExitTrap(this.plumbing.takeState())
    state.learn(frame.cwd.startsWith("/") ? frame : { ...frame, cwd: ProcessTable.cwdOf(shell.pid) })
    if (!frame.sure && run.stopped === undefined && frame.status !== interrupted) state.note(unsure)
    this.finish(frame.status)
  }

  onExit(exitCode: number): void {
    if (this.isHeard) return
    if (this.run.begun || this.run.stopped !== undefined) return this.finish(exitCode)
    this.giveBack({ _tag: "NotBegun", exitCode })
  }

  private deliver(): void {
    const { nonces, pipes, shell } = this
    const { directory } = this.plumbing
    const paths = this.stdin === undefined ? pipes.paths : { ...pipes.paths, stdin: directory.stdin }
    shell.hear(nonces.ended, this)
    shell.frames.expect(nonces.ended, nonces.begun)
    shell.write(Protocol.run(directory, paths, nonces, this.before, this.nextMark))
  }

  private get probe(): string {
    const left = this.before.closes ? OwnDescriptors.checkLeft(this.pipes.paths) : ""
    return `${left}${Protocol.probe(this.nonces, this.nextMark)}`
  }

  private leave(): void {
    this.isHeard = true
    this.endWatch?.()
    this.stdin?.close()
  }

  private giveBack(fed: Fed): void {
    this.leave()
    this.run.giveBack()
    this.done(fed)
  }

  private finish(status: number): void {
    this.leave()
    const missing = this.plumbing.takeMissing()
    void this.run.finish(status).then((outcome) => {
      this.state.end(status, outcome.stderr.text)
      if (!mayOrphan(this.job.text) || !this.shell.isOrphan) return this.tell(outcome, missing)
      const patience = new Promise((resolve) => setTimeout(resolve, orphaned).unref())
      // What the end of the shell costs is known one turn of the event loop later.
      void Promise.race([this.shell.ended, patience]).then(() => setImmediate(() => this.tell(outcome, missing)))
    })
  }

  private tell(outcome: Outcome, missing: string | undefined): void {
    const { mark, run, shell } = this
    const ran: Fed = { _tag: "Ran", outcome, missing, mark }
    if (outcome.status !== 1 || run.heard > 0 || !shell.alive) return this.done(ran)
    // The shell's own messages arrive with the next turn of the event loop.
    setImmediate(() => this.done(this.pipes.refusedBy(shell.complaint) ? { _tag: "Unable", shell } : ran))
  }
}
