/**
 * The way of one command through a shell: its lines are written, the shell reports its begin and its end, and its outcome
 * is collected.
 */

import * as Fs from "node:fs"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { Job } from "../Job.js"
import * as ProcessTable from "../ProcessTable.js"
import type { Settings } from "../SessionSettings.js"
import type { Surroundings } from "../ShellBridge.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import * as FrameReader from "./FrameReader.js"
import * as Interruption from "./Interruption.js"
import * as Protocol from "./Protocol.js"
import { CommandStdin } from "./Protocol.js"
import type { PipePair, SessionIo } from "./SessionIo.js"
import type { SessionState } from "./SessionState.js"
import type { Shell, ShellListener } from "./ShellSupervisor.js"
import * as ShellSupervisor from "./ShellSupervisor.js"

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
    const { pipes, io, shell } = ready
    const { directory, pool } = io
    try {
      io.calls.offer(job.text)
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
    const nextMark = ProcessTable.make(directory.sessionId)
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
    const { calls } = active.io
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

/** Milliseconds between two looks at a command; they grow while there is nothing to see. */
const firstLook = 40
const lastLook = 1000

/** Looks at a shell that is stuck before it is interrupted, and before it is killed. */
const patience = { interrupt: 3, kill: 30 }

/** The most milliseconds in which a shell stops that is told to. */
const stopping = 1000

const readText = (path: string): string => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/**
 * Returns the shell's standard input where it is the socket of the protocol, as it is between commands only: a command
 * has `/dev/null` or what it opened itself, which is no Unix socket.
 */
const promptOf = (pid: number): string | undefined => {
  const link = ShellSupervisor.inputOf(pid)
  const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1]
  return inode !== undefined && new RegExp(` ${inode}( |$)`, "m").test(readText("/proc/net/unix")) ? link : undefined
}

/**
 * Tests whether the shell writes its state, which it does with builtins only, and which takes long where it is large. A
 * shell that ends between commands does so with the protocol's standard input.
 */
const handsOver = (pid: number, state: string): boolean => {
  try {
    return Fs.readlinkSync(`/proc/${pid}/fd/1`).replace(/ \(deleted\)$/, "") === state
  } catch {
    return false
  }
}

const stateOf = (pid: number): string => ProcessTable.stat(pid)?.state ?? ""

const killAll = (pids: ReadonlyArray<number>): void => {
  for (const pid of pids) ProcessTable.send(pid, "SIGKILL")
}

/** Returns the pids of what the shell has started with that standard input. */
const eatersOf = (shell: number, prompt: string): ReadonlyArray<number> =>
  ProcessTable.descendants(ProcessTable.list(), shell).flatMap(({ pid }) =>
    ShellSupervisor.inputOf(pid) === prompt ? [pid] : []
  )

/** The options of `begin`. */
interface WatchOptions {
  readonly shell: Shell
  /** The FIFO that the shell writes its state to when it ends. */
  readonly state: string
  /** True once the command has ended. */
  readonly isOver: () => boolean
  /** Returns the line that makes the shell report where it is. */
  readonly probe: () => string
  /** Called with the names of programs that were killed, and whether the shell was interrupted, which may remove its traps. */
  readonly onFreed: (names: ReadonlyArray<string>, isInterrupted: boolean) => void
}

/** Begins to look after a command that takes longer than most. The returned function ends that. */
const begin = ({ isOver, onFreed, probe, shell, state }: WatchOptions): (() => void) => {
  let delay = firstLook
  /** The looks in a row that saw the shell at a prompt. */
  let stuck = 0
  /** The shell, while it is stopped. */
  let stopped: number | undefined
  let wasInterrupted = false
  const killed: Array<string> = []
  let timer = setTimeout(look, delay).unref()

  function look(): void {
    if (isOver() || !shell.alive) return
    shell.tendSupervisor()
    const { pid } = shell
    const prompt = promptOf(pid)
    if (prompt === undefined || handsOver(pid, state)) {
      stuck = 0
      delay = Math.min(2 * delay, lastLook)
    } else {
      delay = firstLook
      if (free(pid, prompt)) return
    }
    timer = setTimeout(look, delay).unref()
  }

  /**
   * Finds the processes that may have taken the shell's lines: first those below it whose standard input is the shell's
   * own; where killing them did not free it, whatever else has opened that.
   */
  const findEaters = (pid: number, prompt: string): ReadonlyArray<number> => {
    const below = eatersOf(pid, prompt)
    if (stuck <= patience.interrupt) return below
    return [...new Set([...below, ...ShellSupervisor.holders(prompt, pid, shell.keptSince)])]
  }

  /** Returns whether the next look comes by itself. */
  const free = (pid: number, prompt: string): boolean => {
    stuck++
    const eaters = findEaters(pid, prompt)
    const names = eaters.map(ProcessTable.nameOf)
    for (const name of names) if (!killed.includes(name)) killed.push(name)
    // One that is not asleep may only wait for a processor.
    if (stuck > (eaters.length > 0 || stateOf(pid) === "S" ? patience.interrupt : patience.kill)) {
      interrupt(pid, prompt, performance.now() + stopping)
      return true
    }
    killAll(eaters)
    if (eaters.length === 0 && stuck <= patience.interrupt) shell.write(`\n${probe()}`)
    return false
  }

  /**
   * Makes the shell run its trap on URG, which removes the user's and then ends it, or kills it, while it is
   * stopped and still at that prompt: it may have begun the command since the look, which the signal would end. SIGINT is
   * no way out: bash 5.2 returns from such a trap into memory that it has freed, and runs what it finds there.
   */
  const interrupt = (pid: number, prompt: string, until: number): void => {
    if (stopped === undefined) ProcessTable.send(pid, "SIGSTOP")
    stopped = pid
    // `t` where a debugger has stopped it.
    const isStopped = stateOf(pid).toUpperCase() === "T"
    if (!isStopped && performance.now() < until) {
      timer = setTimeout(() => interrupt(pid, prompt, until), 1).unref()
      return
    }
    if (isStopped && ShellSupervisor.inputOf(pid) === prompt && !handsOver(pid, state)) {
      if (stuck > patience.kill) shell.kill()
      else {
        ProcessTable.send(pid, "SIGURG")
        killAll(findEaters(pid, prompt))
        shell.write(`\n${probe()}`)
        wasInterrupted = true
      }
    }
    goOn()
    timer = setTimeout(look, delay).unref()
  }

  const goOn = () => {
    if (stopped !== undefined) ProcessTable.send(stopped, "SIGCONT")
    stopped = undefined
  }

  return () => {
    clearTimeout(timer)
    goOn()
    if (killed.length > 0 || wasInterrupted) onFreed(killed, wasInterrupted)
  }
}

/** The most characters of a text that are looked through for what it may do; a longer one may do anything. */
const longestRead = 256 * 1024

/** Tests whether a text has several commands, which may write to both streams in turn before the output is read as it comes. */
const mayAlternate = (text: string): boolean =>
  text.length > longestRead || /[;&|({`]/.test(text) || text.trim().includes("\n")

/** A shell that is ready for a command, with the pipes for it. */
export interface ReadyShell {
  readonly shell: Shell
  readonly io: SessionIo
  readonly pipes: PipePair
}

/**
 * The outcome of feeding a command. `Ran`: it ran; `missing` is the last command that bash did not find. `NotBegun`:
 * the shell ended before it began the command. `Unable`: the shell can't run commands any more, because something that
 * it needs is disabled, redefined or forbidden. `NotHandedOver`: the command's text could not be written.
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

/** The settings of a delivery, and the marks of its command and the next one (`CommandMark`). */
interface DeliveryOptions {
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
 */
export class CommandDelivery implements ShellListener {
  readonly run: CommandRun
  readonly mark: string | undefined
  readonly nextMark: string
  private readonly shell: Shell
  readonly io: SessionIo
  private readonly pipes: PipePair
  private readonly state: SessionState
  private readonly before: Protocol.Before
  private readonly stdin: CommandStdin | undefined
  private nonces = FrameReader.makePair()
  /** The times that its lines may still be written. */
  private left = attempts
  /** True once the shell has reported all that it has to report of this command. */
  private isHeard = false
  private endWatch: (() => void) | undefined

  /** `done` is called once, with the outcome. */
  constructor(
    private readonly job: Job,
    { pipes, io, shell }: ReadyShell,
    { mark, nextMark, patience, settings, state }: DeliveryOptions,
    private readonly done: (fed: Fed) => void
  ) {
    this.mark = mark
    this.nextMark = nextMark
    this.shell = shell
    this.io = io
    this.pipes = pipes
    this.state = state
    this.before = state.takeBefore(job.text)
    this.run = new CommandRun(job, this, shell, io, pipes, settings, patience, this.before.exits)
    this.stdin = job.stdin === undefined ? undefined : new CommandStdin(io.directory.stdin, job.stdin)
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
    this.io.attach()
    this.endWatch = begin({
      shell: this.shell,
      state: this.io.directory.state,
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
    return this.io.isStateWritten
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
      const eaters = ShellSupervisor.reserve(shell.pid, shell.keptSince)
      if (eaters.length > 0) state.noteOnce(eaten(eaters, false))
      if (--this.left === 0) return this.giveBack({ _tag: "Unable", shell })
      this.nonces = FrameReader.makePair()
      return this.deliver()
    }
    if (before.exits && frame.sure) state.learnExitTrap(this.io.takeState())
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
    const { directory } = this.io
    const paths = this.stdin === undefined ? pipes.paths : { ...pipes.paths, stdin: directory.stdin }
    shell.hear(nonces.ended, this)
    shell.frames.expect(nonces.ended, nonces.begun)
    shell.write(Protocol.run(directory, paths, nonces, this.before, this.nextMark))
  }

  private get probe(): string {
    const left = this.before.closes ? Protocol.checkLeft(this.pipes.paths) : ""
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
    const missing = this.io.takeMissing()
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
