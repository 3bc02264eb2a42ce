/**
 * One run of a command in a shell: its pipes, the captured output, the timeout, and the end.
 *
 * @since 0.1.0
 */
import * as Interruption from "./Interruption.js"
import type { Job } from "./Job.js"
import { type Captured, OutputCapture } from "./OutputCapture.js"
import type { Sink } from "./OutputPipe.js"
import type { PipePair, PipePool } from "./PipePool.js"
import type { SessionDirectory } from "./SessionDirectory.js"
import type { Settings } from "./SessionSettings.js"
import type { Shell } from "./Shell.js"

/**
 * The reason why a command is ended before it has ended by itself.
 *
 * @since 0.1.0
 * @category models
 */
export type StopReason = "cancelled" | "timeout" | "restart"

/**
 * The outcome of a command that ran: its exit code (the shell's own, where the shell has ended), its output, and the
 * reason why it was stopped, if it was.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly status: number
  readonly stopped: StopReason | undefined
  readonly stdout: Captured
  readonly stderr: Captured
}

/** Milliseconds to wait for the output of a process substitution after its command has ended. */
const substitutionGrace = 200

/** Matches bash's own message that it has no terminal to give to a child; no program can print it with this pid. */
const noTerminal = (pid: number) => new RegExp(`bash: \\[${pid}: \\d+ \\(\\d+\\)\\] tcsetattr: .*\\n`, "g")

/**
 * A command that runs. Either `finish` or `giveBack` ends it, and only once.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandRun {
  begun = false
  over = false
  stopped: StopReason | undefined
  /** The number of bytes of its output. */
  heard = 0
  /** Stops waiting for a listener that is still busy. */
  private leaveListener: () => void = () => {}
  /** The work of the listener that is not done, by stream; a stream is paused until it is. */
  private readonly untold = new Map<string, Promise<void>>()
  private deaf = false
  private readonly stdout: OutputCapture
  private readonly stderr: OutputCapture
  private readonly startedAt = performance.now()
  private deadline: NodeJS.Timeout | undefined
  private endInterruption: (() => void) | undefined

  constructor(
    readonly job: Job,
    private readonly shell: Shell,
    private readonly pool: PipePool,
    readonly pipes: PipePair,
    private readonly directory: SessionDirectory,
    settings: Settings,
    private readonly patience: Interruption.Patience
  ) {
    const options = {
      limit: settings.outputLimit,
      fileLimit: settings.outputFileLimit,
      file: () => directory.nextOutput()
    }
    this.stdout = new OutputCapture(options)
    this.stderr = new OutputCapture(options)
  }

  /** Reads the output as it comes, and starts the timeout, for a command that runs long. */
  attach(): void {
    if (this.over) return
    this.pipes.stdout.attach(this.intoStdout)
    this.pipes.stderr.attach(this.intoStderr)
    this.deadline = setTimeout(() => this.stop("timeout"), Math.max(1, this.job.timeout - this.elapsed()))
  }

  /** Begins to end what the command runs; of several reasons, the first counts. */
  stop(reason: StopReason): void {
    if (this.stopped !== undefined) return
    this.stopped = reason
    this.leaveListener()
    if (this.over) return
    clearTimeout(this.deadline)
    this.endInterruption = Interruption.begin({
      shell: this.shell,
      startedAt: this.startedAt,
      begun: () => this.begun,
      useForce: (force) => this.directory.useForce(force),
      patience: this.patience
    })
  }

  /** Stops interrupting the command, because the shell itself is about to be ended. */
  abandon(): void {
    this.settle()
    this.stopped ??= "restart"
  }

  /** Gives the pipes back, because the shell has ended before it began the command. */
  giveBack(): void {
    this.settle()
    this.pipes.stdout.drain(() => {})
    this.pipes.stderr.drain(() => {})
    this.pool.give(this.pipes)
  }

  /** Collects the output of a command whose status is known. No signal is sent to it after this. */
  async finish(status: number): Promise<Outcome> {
    const { deadline } = this
    this.deadline = undefined
    this.settle()
    let held = this.drain()
    if (held.any && this.job.text.includes(">(")) {
      for (const until = performance.now() + substitutionGrace; held.any && performance.now() < until; ) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        held = this.drain()
      }
    }
    if (held.any) this.pool.giveWhenQuiet(this.pipes)
    else this.pool.give(this.pipes)
    if (this.untold.size > 0 && this.stopped === undefined) {
      const left = new Promise<void>((resolve) => {
        this.leaveListener = resolve
      })
      await Promise.race([Promise.all(this.untold.values()), left])
    }
    clearTimeout(deadline)
    return { status, stopped: this.stopped, stdout: this.stdout.finish(), stderr: this.stderr.finish() }
  }

  /** Ends the timeout and the interruption. */
  settle(): void {
    this.over = true
    clearTimeout(this.deadline)
    this.endInterruption?.()
  }

  private elapsed(): number {
    return performance.now() - this.startedAt
  }

  private drain() {
    const stdout = this.pipes.stdout.drain(this.intoStdout)
    const stderr = this.pipes.stderr.drain(this.intoStderr)
    return { any: stdout || stderr }
  }

  /** Passes output on to the listener, in order: a chunk waits while the listener is busy with the one before it. */
  private tell(stream: "stdout" | "stderr", chunk: Buffer): void | Promise<void> {
    this.heard += chunk.length
    if (this.deaf || this.job.listener.onOutput === undefined) return
    const before = this.untold.get(stream)
    const copy = before === undefined ? chunk : Buffer.from(chunk)
    const telling = before === undefined ? this.hear(stream, copy) : before.then(() => this.hear(stream, copy))
    if (telling === undefined) return
    const told = telling
      .catch(() => {
        this.deaf = true
      })
      .then(() => {
        if (this.untold.get(stream) === told) this.untold.delete(stream)
      })
    this.untold.set(stream, told)
    return told
  }

  /** Calls the listener; once it has thrown, it is not called again, and the command goes on. */
  private hear(stream: "stdout" | "stderr", chunk: Buffer): void | Promise<void> {
    if (this.deaf) return
    try {
      return this.job.listener.onOutput?.(stream, chunk)
    } catch {
      this.deaf = true
    }
  }

  private readonly intoStdout: Sink = (chunk) => {
    this.stdout.push(chunk)
    return this.tell("stdout", chunk)
  }

  private readonly intoStderr: Sink = (chunk) => {
    const clean = this.withoutShellsOwn(chunk)
    this.stderr.push(clean)
    return this.tell("stderr", clean)
  }

  /**
   * Removes the name of the file that the shell reads the command from, and bash's messages about having no terminal.
   */
  private withoutShellsOwn(chunk: Buffer): Buffer {
    const own = `${this.directory.command}: `
    if (!chunk.includes(own) && !chunk.includes(`bash: [${this.shell.innerPid}: `)) return chunk
    return Buffer.from(
      chunk
        .toString("latin1")
        .replaceAll(`bash: ${Buffer.from(own).toString("latin1")}`, "bash: ")
        // A subshell in the background is not interactive, and names the file alone.
        .replaceAll(`${Buffer.from(own).toString("latin1")}line `, "bash: line ")
        .replaceAll(noTerminal(this.shell.innerPid), ""),
      "latin1"
    )
  }
}
