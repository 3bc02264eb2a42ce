/** One run of a command in a shell: its pipes, its captured output, its time limit and its end. */
import * as Timers from "node:timers/promises"
import * as CommandName from "../../command/CommandName.js"
import type { CommandListener } from "../../domain/CommandListener.js"
import type { LineOrder, StreamName } from "../../domain/KeptOutput.js"
import * as Descriptors from "../Descriptors.js"
import type { JobTable } from "../JobTable.js"
import * as Listeners from "../Listeners.js"
import * as ProcessTable from "../ProcessTable.js"
import type { QueuedCommand } from "../QueuedCommand.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Settings } from "../SessionSettings.js"
import * as Interruption from "./Interruption.js"
import * as OutputCapture from "./OutputCapture.js"
import { OutputOrder } from "./OutputCapture.js"
import type { Sink } from "./OutputPipe.js"
import type { Before } from "./Protocol.js"
import type { PipePair, SessionIo } from "./SessionIo.js"
import * as ShellState from "./ShellState.js"
import type { Shell } from "./ShellSupervisor.js"

/** The most turns of the event loop whose reads count as one batch, while writes follow one another. */
const longestTogether = 16

/** The most writes of one command that are observed, since each takes time. */
const mostWrites = 20_000

/** Milliseconds of silence after which a process substitution counts as a background server: they look alike. */
const longestQuiet = 500

/** Returns the most jobs that this process's descriptors allow: two descriptors per job, a quarter of all. */
const descriptorsAllow = (): number => Math.max(4, Math.floor((Descriptors.limit() ?? 1024) / 8))

/** Milliseconds between two signals to a shell that should stop waiting. */
const askEvery = 20

/** Milliseconds without output after which a listening server counts as ready, and between two checks of it. */
const serverSilence = 1000
const serverEvery = 500

/** Records the order in which one command writes to its streams. */
export class OrderRecorder {
  readonly order = new OutputOrder()
  private isWatching = false
  private isAttached = false
  private isOver = false
  /** True if a check at the end of the event loop's turn is scheduled. */
  private isDue = false
  private isBusy = false
  private turns = 0
  private writes = 0
  private readonly unread = { stdout: false, stderr: false }

  constructor(
    private readonly pipes: PipePair,
    private readonly sinks: Readonly<Record<StreamName, Sink>>
  ) {}

  /** Starts observing the writes. Reads the pipes as well, until `attach`. */
  watch(): void {
    this.isWatching = this.pipes.hearWrites(this.onWrite)
  }

  /** Prepares for pipes that are read continuously from now on. */
  attach(): void {
    this.isAttached = true
    if (this.isWatching) return
    this.watch()
    // What was written before the watch comes before everything that it reports.
    this.pipes.stdout.peek(this.sinks.stdout)
    this.pipes.stderr.peek(this.sinks.stderr)
    this.order.settle()
  }

  /** Stops reading because the command has ended: later output may be a background process's. */
  endReading(): void {
    this.isAttached = true
  }

  took(stream: StreamName, bytes: number): void {
    this.order.took(stream, bytes)
    if (!this.isWatching) this.order.settle()
    else if (bytes > 0) this.look()
  }

  /** Ends the recording: at once, or after the last writes were observed if their order matters. */
  end(): Promise<void> | undefined {
    if (!this.isWatching || !this.order.isMixed) return this.leave()
    // The first turn may have begun before the last write.
    return Timers.setImmediate()
      .then(() => Timers.setImmediate())
      .then(() => this.leave())
  }

  leave(): undefined {
    this.isOver = true
    this.isWatching = false
    this.order.settle()
    this.pipes.ignoreWrites()
  }

  private readonly onWrite = (stream: StreamName): void => {
    this.order.wrote(stream)
    this.unread[stream] = true
    this.look()
    if (++this.writes < mostWrites) return
    this.isWatching = false
    this.pipes.endWatch()
  }

  /** Checks after the other events of this turn whether more has come. */
  private look(): void {
    this.isBusy = true
    if (this.isDue || this.isOver) return
    this.isDue = true
    setImmediate(this.onTurn)
  }

  private readonly onTurn = (): void => {
    this.isDue = false
    if (this.isOver) return
    if (this.isBusy) {
      this.isDue = true
      setImmediate(this.onTurn)
      this.read()
      // What this has read is not news.
      this.isBusy = false
      if (++this.turns < longestTogether) return
    }
    this.turns = 0
    this.order.settle()
  }

  /** Reads only streams with an observed write, so that the turn of each read is known. */
  private read(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.unread[stream] && !this.isAttached) this.pipes[stream].peek(this.sinks[stream])
      this.unread[stream] = false
    }
  }
}

/**
 * Passes each stream's chunks to the listener in order. A chunk waits until the listener has handled the one before.
 * A listener that has thrown is not called again, and the command goes on.
 */
class OutputTeller {
  /** The listener's unfinished work by stream. A stream is paused until its work is done. */
  private readonly untold = new Map<StreamName, Promise<void>>()
  private isDeaf = false
  private stopWaiting = () => {}

  constructor(private readonly listener: CommandListener) {}

  /** Passes a chunk on. If the listener is busy, copies the chunk and returns a promise. */
  tell(stream: StreamName, chunk: Buffer): void | Promise<void> {
    if (this.isDeaf) return
    const before = this.untold.get(stream)
    const copy = before === undefined ? chunk : Buffer.from(chunk)
    const telling = before === undefined ? this.call(stream, copy) : before.then(() => this.call(stream, copy))
    if (telling === undefined) return
    const told = telling
      .catch(() => {
        this.isDeaf = true
      })
      .then(() => {
        if (this.untold.get(stream) === told) this.untold.delete(stream)
      })
    this.untold.set(stream, told)
    return told
  }

  /** Returns a promise that resolves when the listener is done or `leave` is called. Undefined if it is done. */
  rest(): Promise<unknown> | undefined {
    if (this.untold.size === 0) return undefined
    const left = new Promise<void>((resolve) => {
      this.stopWaiting = resolve
    })
    return Promise.race([Promise.all(this.untold.values()), left])
  }

  /** Stops waiting for a busy listener. */
  leave(): void {
    this.stopWaiting()
  }

  private call(stream: StreamName, chunk: Buffer): void | Promise<void> {
    if (this.isDeaf) return
    try {
      return this.listener.onOutput?.(stream, chunk)
    } catch {
      this.isDeaf = true
    }
  }
}

/** Matches bash's message that it has no terminal to give to a child. No other program prints it with this pid. */
const noTerminal = (pid: number) => new RegExp(`bash: \\[${pid}: \\d+ \\(\\d+\\)\\] tcsetattr: .*\\n`, "g")

/**
 * Removes the name of the command's file, and bash's messages about a missing terminal.
 *
 * @param file the file with the command
 * @param pid the shell's pid, as in its messages
 */
const remove = (chunk: Buffer, file: string, pid: number): Buffer => {
  const named = `${file}: `
  if (!chunk.includes(named) && !chunk.includes(`bash: [${pid}: `)) return chunk
  const own = Buffer.from(named).toString("latin1")
  return Buffer.from(
    chunk
      .toString("latin1")
      .replaceAll(`bash: ${own}`, "bash: ")
      // A background subshell is not interactive, and names only the file.
      .replaceAll(`${own}line `, "bash: line ")
      .replaceAll(noTerminal(pid), ""),
    "latin1"
  )
}

type StopReason = "cancelled" | "timeout" | "restart"

/** The outcome of a command. `status` is the shell's own exit code if the shell has ended. */
export interface Outcome {
  readonly status: number
  readonly stopped: StopReason | undefined
  readonly stdout: OutputCapture.Captured
  readonly stderr: OutputCapture.Captured
  /** The order of both streams' lines. Undefined if all of standard output came first, or the order is not known. */
  readonly order: LineOrder | undefined
  /** The most characters shown of both streams together. */
  readonly limit: number
  /** A notice that the processes left by the command were ended. Undefined if they are a job, or there are none. */
  readonly notice: string | undefined
}

/** A shell that is ready for a command, with pipes for it. */
export interface ReadyShell {
  readonly shell: Shell
  readonly io: SessionIo
  readonly pipes: PipePair
}

export interface RunOptions {
  readonly jobs: JobTable
  readonly mark: string
  readonly nextMark: string
  readonly settings: Settings
}

/** A running command. Exactly one call of `finish` or `giveBack` ends it. */
export class CommandRun implements Interruption.Target {
  begun = false
  over = false
  stopped: StopReason | undefined
  /** The number of bytes of its output. */
  heard = 0
  readonly mark: string
  readonly nextMark: string
  readonly older = new Set<number>()
  readonly shell: Shell
  readonly directory: SessionDirectory
  /** The shell's child that the command's last `&` has started. */
  child: number | undefined
  private readonly io: SessionIo
  private readonly pipes: PipePair
  private readonly jobs: JobTable
  private readonly settings: Settings
  /** Undefined if nobody listens to the output. */
  private readonly teller: OutputTeller | undefined
  private readonly stdout: OutputCapture.OutputCapture
  private readonly stderr: OutputCapture.OutputCapture
  readonly startedAt = performance.now()
  /** True if the command ran long and ended by itself, and nobody has checked what it left. */
  mayLeave = false
  private deadline: NodeJS.Timeout | undefined
  private endInterruption: ((onlyStop?: boolean) => Promise<void>) | undefined
  /** Resolves when nothing of a stopped command is left. */
  private cleared: Promise<void> | undefined
  /** Undefined if the order is not recorded. */
  private recorder: OrderRecorder | undefined

  private isLong = false
  private yielding: NodeJS.Timeout | undefined
  private serving: NodeJS.Timeout | undefined
  /** True once the shell was asked to go on without the last program. */
  private isYielded = false
  private holds = 0
  /** Milliseconds for which the time limit was paused. */
  private waited = 0

  /** `hurry` is called when the command is about to be ended. */
  constructor(
    readonly queued: QueuedCommand,
    { pipes, io, shell }: ReadyShell,
    { jobs, mark, nextMark, settings }: RunOptions,
    private readonly before: Pick<Before, "exits" | "leaves" | "yields">,
    private readonly hurry: () => void
  ) {
    const { directory } = io
    this.mark = mark
    this.nextMark = nextMark
    this.shell = shell
    this.directory = directory
    this.io = io
    this.pipes = pipes
    this.jobs = jobs
    this.settings = settings
    const options = {
      limit: settings.outputLimit,
      fileLimit: settings.outputFileLimit,
      file: () => directory.output.make("")
    }
    this.teller = queued.listener.onOutput && new OutputTeller(queued.listener)
    this.stdout = new OutputCapture.OutputCapture(options)
    this.stderr = new OutputCapture.OutputCapture(options)
    this.queued.hold = () => this.hold()
  }

  /** Records the output's order from the beginning, for a command that may write to both streams in turn. */
  watch(): void {
    this.recording?.watch()
  }

  /** Reads the output continuously and starts the time limit, for a long command. */
  attach(): void {
    if (this.over) return
    this.isLong = true
    this.recording?.attach()
    this.pipes.stdout.attach(this.intoStdout)
    this.pipes.stderr.attach(this.intoStderr)
    if (this.holds === 0) this.deadline = this.untilTimeout()
    const { yield: limit } = this.queued
    if (limit !== undefined && this.before.yields) {
      const elapsed = performance.now() - this.startedAt
      this.yielding = setTimeout(() => this.giveWay(), Math.max(1, limit - elapsed))
      if (CommandName.isServer(this.queued.line.text)) this.serving = setTimeout(() => this.look(), serverEvery)
    }
  }

  /** Makes the shell go on once a server listens and is silent, since waiting for the limit would be in vain. */
  private look(before = this.heard, since = performance.now()): void {
    const isSilent = before === this.heard
    const ports = () => Listeners.heldBy(Interruption.leftovers(this)().map(({ pid }) => pid))
    if (isSilent && performance.now() - since >= serverSilence && ports().length > 0) {
      clearTimeout(this.yielding)
      return this.giveWay()
    }
    const next = isSilent ? since : performance.now()
    this.serving = setTimeout(() => this.look(this.heard, next), serverEvery)
  }

  /** Makes the shell go on without the program that it waits for. Repeats the request until it does. */
  private giveWay(): void {
    if (this.over || this.stopped !== undefined) return
    if (!this.isYielded) this.directory.signal(this.directory.yields, true)
    this.isYielded = true
    if (this.begun) ProcessTable.send(this.shell.pid, "SIGURG")
    this.yielding = setTimeout(() => this.giveWay(), askEvery)
  }

  /** True if the command ran for longer than its yield, which could not be applied. */
  get outlastedYield(): boolean {
    const { stdin, yield: limit } = this.queued
    const isIgnored = limit !== undefined && stdin === undefined && !this.before.yields && this.stopped === undefined
    return isIgnored && performance.now() - this.startedAt > limit
  }

  private endYield(): void {
    clearTimeout(this.yielding)
    clearTimeout(this.serving)
    if (this.isYielded) this.directory.signal(this.directory.yields, false)
  }

  /** Pauses the command's time limit until the returned function is called. */
  private hold(): () => void {
    const began = performance.now()
    this.holds++
    clearTimeout(this.deadline)
    return () => {
      // If several hold it, time goes on after the last.
      if (--this.holds > 0) return
      this.waited += performance.now() - began
      if (!this.over && this.stopped === undefined) this.deadline = this.untilTimeout()
    }
  }

  /** Begins to end the command. Of several reasons, the first counts. */
  stop(reason: Exclude<StopReason, "restart">): void {
    if (this.stopped !== undefined) return
    this.stopped = reason
    this.endYield()
    this.teller?.leave()
    if (this.over) {
      this.cleared = Interruption.clear(this)
      return
    }
    this.hurry()
    clearTimeout(this.deadline)
    this.endInterruption = Interruption.begin(this)
  }

  /** Stops the command's processes and the shell at once. The returned function kills them. */
  freeze(isSpared: (pid: number) => boolean): () => void {
    this.stopped ??= "restart"
    clearTimeout(this.deadline)
    void this.endInterruption?.(true)
    const kill = Interruption.freeze(this, isSpared)
    return () => {
      this.teller?.leave()
      this.cleared = kill()
    }
  }

  /** Gives the pipes back because the shell has ended before starting the command. */
  giveBack(): void {
    this.settle()
    this.recorder?.leave()
    this.pipes.stdout.drain(() => {})
    this.pipes.stderr.drain(() => {})
    this.io.pool.give(this.pipes)
  }

  /** Collects the output of a command whose status is known. Sends no signals after this. */
  async finish(status: number, shown?: Promise<void>): Promise<Outcome> {
    let { deadline } = this
    this.deadline = undefined
    this.settle()
    this.recorder?.endReading()
    if (shown !== undefined) await shown
    if (this.cleared !== undefined) await this.cleared
    let isHeld = this.drain()
    if (isHeld && !this.isYielded) {
      deadline ??= this.untilTimeout()
      await this.endSubstitutions()
      if (this.cleared !== undefined) await this.cleared
      isHeld = this.drain()
    }
    const heard = this.recorder?.end()
    if (heard !== undefined) await heard
    if (!isHeld) this.io.pool.give(this.pipes)
    const untold = this.stopped === undefined ? this.teller?.rest() : undefined
    if (untold !== undefined) await untold
    clearTimeout(deadline)
    if (this.cleared !== undefined) await this.cleared
    const { outputLimit: limit } = this.settings
    const { order, stderr, stdout } = OutputCapture.finish(this.stdout, this.stderr, limit, this.recorder?.order)
    // Without jobs, the session may end now, and later is too late to look.
    const isLast = this.isLong && this.settings.maxJobs === 0
    const looks = isHeld || isLast || this.before.leaves || this.isYielded || this.jobs.isStarting
    this.mayLeave = this.isLong && !looks && this.stopped === undefined
    const notice = looks ? this.adopt(isHeld, stdout.text, stderr.text) : undefined
    if (looks) this.jobs.endStart()
    return { stdout, stderr, order, status, stopped: this.stopped, limit, notice }
  }

  /** Waits for the command's process substitutions, unless they print nothing for too long. */
  private async endSubstitutions(): Promise<void> {
    const isAwaited = Interruption.writers(this)
    let { heard } = this
    let quietSince = performance.now()
    let isHeld = true
    for (let pause = 1; this.stopped === undefined && isHeld && isAwaited(); pause = Math.min(2 * pause, 20)) {
      if (performance.now() - quietSince > longestQuiet) return
      await Timers.setTimeout(pause)
      isHeld = this.drain()
      if (this.heard === heard) continue
      heard = this.heard
      quietSince = performance.now()
      pause = 0.5
    }
  }

  /**
   * Makes a job of the processes that the command has left, and logs their output. In a session without jobs, the job
   * is lost at once. With too many jobs, ends the processes instead and returns a notice.
   */
  adopt(isHeld: boolean, stdout: string, stderr: string): string | undefined {
    const { child, jobs, pipes } = this
    const { pool } = this.io
    const find = Interruption.leftovers(this)
    const isStopped = this.stopped !== undefined
    if (!isHeld && (isStopped || (!jobs.isStarting && find().length === 0))) return undefined
    const maxJobs = Math.min(this.settings.maxJobs, descriptorsAllow())
    const hasJobs = this.settings.maxJobs > 0
    const isOver = isStopped || (hasJobs && jobs.running >= maxJobs)
    if (isOver) {
      if (isHeld) pool.lend(pipes)
      if (isStopped) return undefined
      void Interruption.clear(this)
      const limit = maxJobs < this.settings.maxJobs ? "ulimit -n allows no more" : "SYNAPSE_MAX_JOBS"
      return `${maxJobs} jobs run (${limit}): what this command left running was ended. job:stop N ends one.`
    }
    const clean = { stdout: this.cleanStdout, stderr: this.cleanStderr }
    jobs.adopt({
      text: this.queued.line.text,
      printed: { stdout, stderr },
      child,
      find,
      hear: isHeld
        ? (take, ended) => pool.lend(pipes, (stream, chunk) => take(stream, clean[stream](chunk)), ended)
        : undefined
    })
    if (!hasJobs) {
      jobs.lose()
      void Interruption.clear(this)
    }
    return undefined
  }

  /** Ends the time limit and the interruption. */
  private settle(): void {
    this.over = true
    clearTimeout(this.deadline)
    this.endYield()
    this.cleared ??= this.endInterruption?.()
  }

  /** The recorder of the output's order; undefined if nobody needs the order. */
  private get recording(): OrderRecorder | undefined {
    if (this.queued.listener.takesAll !== true) {
      this.recorder ??= new OrderRecorder(this.pipes, { stdout: this.intoStdout, stderr: this.intoStderr })
    }
    return this.recorder
  }

  get isExiting(): boolean {
    return this.io.isStateWritten
  }

  private untilTimeout(): NodeJS.Timeout {
    const elapsed = performance.now() - this.startedAt - this.waited
    return setTimeout(() => this.stop("timeout"), Math.max(1, this.queued.timeout - elapsed))
  }

  /** Reads what the pipes hold. Returns whether another process may still write to them. */
  private drain(): boolean {
    const isHeld = this.pipes.stdout.drain(this.intoStdout)
    return this.pipes.stderr.drain(this.intoStderr) || isHeld
  }

  private tell(stream: StreamName, chunk: Buffer): void | Promise<void> {
    this.heard += chunk.length
    this.recorder?.took(stream, chunk.length)
    return this.teller?.tell(stream, chunk)
  }

  private readonly cleanStdout = (chunk: Buffer): Buffer => (this.before.exits ? ShellState.hide(chunk) : chunk)

  private readonly cleanStderr = (chunk: Buffer): Buffer => remove(chunk, this.directory.command, this.shell.innerPid)

  /** Captures what the terminal shows of the command. Returns it without the session's own names. */
  takeScreen(chunk: Buffer): Buffer {
    const clean = this.cleanStderr(this.cleanStdout(chunk))
    this.heard += clean.length
    this.stderr.push(Buffer.from(clean.toString("latin1").replaceAll("\r\n", "\n"), "latin1"))
    return clean
  }

  private readonly intoStdout: Sink = (chunk) => {
    const clean = this.cleanStdout(chunk)
    this.stdout.push(clean)
    return this.tell("stdout", clean)
  }

  private readonly intoStderr: Sink = (chunk) => {
    const clean = this.cleanStderr(chunk)
    this.stderr.push(clean)
    return this.tell("stderr", clean)
  }
}
