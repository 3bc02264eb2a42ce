/**
 * Keeps a shell for commands: starts one when there is need of it, feeds it one command after the other, and hands the
 * state of one that ended to the next.
 *
 * Written with callbacks: this is the way that every command goes.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import { ExecutionFailed, type InvalidUsage } from "../domain/CommandError.js"
import type { CommandListener } from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import * as Interruption from "./Interruption.js"
import { OutputPipe } from "./OutputPipe.js"
import { type PipePair, PipePool } from "./PipePool.js"
import * as ProcessTable from "./ProcessTable.js"
import * as Protocol from "./Protocol.js"
import { SessionDirectory } from "./SessionDirectory.js"
import type { Settings } from "./SessionSettings.js"
import { Shell } from "./Shell.js"
import type { Spawnable } from "./ShellCommand.js"
import * as ShellEnvironment from "./ShellEnvironment.js"

/**
 * A command that waits or runs. Exactly one of its functions is called, once.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job {
  readonly text: string
  readonly timeout: number
  readonly listener: CommandListener
  readonly succeed: (result: CommandResult) => void
  readonly fail: (error: ExecutionFailed | InvalidUsage) => void
  /** Set by `cancel`: called, with the result so far, in place of the others. */
  cancelled?: (result: CommandResult) => void
  run?: CommandRun
  /** Whether a shell died before it came to this command: that is not tried more than once. */
  retried?: boolean
}

/** What the shell needs of the file system, made once. */
interface Ground {
  readonly directory: SessionDirectory
  readonly pool: PipePool
  readonly state: OutputPipe
  readonly notFound: OutputPipe
}

/** A command that runs longer than this many milliseconds has its output read as it comes; until then nobody waits. */
const longRun = 3

/** What a session's end leaves the programs for their own end: a shell's EXIT trap, a server's shutdown. */
const farewell = 300

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/**
 * @since 0.1.0
 * @category models
 */
export class PersistentShell {
  cwd: string
  private readonly queue: Array<Job> = []
  private active: Job | undefined
  private shell: Shell | undefined
  private ground: Ground | undefined
  private status = 0
  private reply = ""
  /** Text that gives the next shell the state of the last. */
  private restoration: string | undefined
  private state: Array<Buffer> = []
  private missing = ""
  private notices: Array<string> = []
  private disposed = false
  private ending = false
  private starting: Promise<unknown> | undefined
  private readonly sessionId = crypto.randomUUID()
  private readonly environment: Record<string, string>
  private readonly since = ProcessTable.ticksAgo(0)
  private readonly longRunTimer: NodeJS.Timeout

  constructor(
    private readonly settings: Settings,
    private readonly spawnable: Spawnable,
    private readonly patience = Interruption.defaultPatience
  ) {
    this.cwd = settings.cwd ?? process.cwd()
    this.environment = ShellEnvironment.make(this.sessionId, settings.environment)
    this.longRunTimer = setTimeout(() => this.onLongRun(), longRun).unref()
  }

  submit(job: Job): void {
    if (this.disposed) return job.fail(new ExecutionFailed({ cause: "shell", reason: "the session has ended" }))
    this.queue.push(job)
    this.next()
  }

  /** Ends a command that waits or runs, and answers with what it had put out. */
  cancel(job: Job, cancelled: (result: CommandResult) => void): void {
    job.cancelled = cancelled
    const waiting = this.queue.indexOf(job)
    if (waiting >= 0) {
      this.queue.splice(waiting, 1)
      cancelled({ stdout: "", stderr: "", exitCode: ExitCode.interrupted })
    } else {
      job.run?.stop("cancelled")
    }
  }

  /** Ends the shell and all that it started. What waits runs in the next one. */
  async restart(): Promise<void> {
    this.active?.run?.abandon()
    await this.endAll()
    this.restoration = undefined
    this.cwd = this.settings.cwd ?? process.cwd()
    this.status = 0
    this.reply = ""
    this.notices = []
    this.next()
  }

  async dispose(): Promise<void> {
    if (this.disposed) return
    this.disposed = true
    clearTimeout(this.longRunTimer)
    for (const job of this.queue.splice(0))
      job.fail(new ExecutionFailed({ cause: "shell", reason: "the session has ended" }))
    await this.restart()
    if (this.ground === undefined) return
    const { directory, notFound, pool, state } = this.ground
    this.ground = undefined
    pool.close()
    state.close()
    notFound.close()
    directory.remove(this.settings.keepOutputFiles)
  }

  private next(): void {
    if (this.active !== undefined || this.ending) return
    const job = this.queue.shift()
    if (job === undefined) return
    this.active = job
    this.begin(job)
  }

  private begin(job: Job): void {
    const { ground, shell } = this
    if (ground !== undefined && shell?.alive === true) {
      const pipes = ground.pool.take()
      if (!(pipes instanceof Promise)) return this.feed(job, shell, ground, pipes)
    }
    this.prepare().then(
      ([shell, ground, pipes]) => this.feed(job, shell, ground, pipes),
      (error) =>
        this.end(job, () => job.fail(new ExecutionFailed({ cause: "shell", reason: `no shell: ${reasonOf(error)}` })))
    )
  }

  private async prepare(): Promise<[Shell, Ground, PipePair]> {
    if (this.ground === undefined || this.shell?.alive !== true) {
      const starting = this.start()
      this.starting = starting
      await starting
    }
    const { ground, shell } = this
    if (ground === undefined || shell === undefined) throw new Error("the shell ended as soon as it had started")
    return [shell, ground, await ground.pool.take()]
  }

  /** A shell, and at the first time its ground: both at once. */
  private async start(): Promise<void> {
    const directory = this.ground?.directory ?? new SessionDirectory()
    if (this.restoration !== undefined) Fs.writeFileSync(directory.restore, this.restoration, { mode: 0o600 })
    const [made, started] = await Promise.allSettled([
      this.ground ?? this.break(directory),
      Shell.start({
        spawnable: this.spawnable,
        directory,
        environment: this.environment,
        spawnCwd: this.settings.cwd ?? process.cwd(),
        cwd: this.cwd,
        restore: this.restoration !== undefined
      })
    ])
    if (started.status === "fulfilled" && made.status === "fulfilled" && !this.disposed) {
      this.restoration = undefined
      this.ground = made.value
      this.shell = started.value
      this.shell.listener = { onFrame: () => {}, onExit: () => this.onIdleExit() }
      return
    }
    if (started.status === "fulfilled") started.value.kill()
    if (this.ground === undefined) directory.remove(false)
    throw started.status === "rejected"
      ? started.reason
      : made.status === "rejected"
        ? made.reason
        : new Error("the session has ended")
  }

  private async break(directory: SessionDirectory): Promise<Ground> {
    await directory.addPairs([directory.state, directory.notFound])
    return {
      directory,
      pool: new PipePool(directory),
      state: new OutputPipe(directory.state),
      notFound: new OutputPipe(directory.notFound)
    }
  }

  private feed(job: Job, shell: Shell, ground: Ground, pipes: PipePair): void {
    const { directory, pool } = ground
    if (job.cancelled !== undefined) {
      pool.give(pipes)
      return this.answer(job, { status: 0, stopped: "cancelled", stdout: { text: "" }, stderr: { text: "" } })
    }
    try {
      directory.writeCommand(job.text)
    } catch (error) {
      pool.give(pipes)
      return this.end(job, () =>
        job.fail(
          new ExecutionFailed({ cause: "io", reason: `the command could not be handed over: ${reasonOf(error)}` })
        )
      )
    }
    const run = new CommandRun(
      job.text,
      shell,
      pool,
      pipes,
      directory,
      job.listener,
      job.timeout,
      this.settings,
      this.patience
    )
    job.run = run
    const finish = (status: number) => {
      ground.state.detach()
      shell.listener = { onFrame: () => {}, onExit: () => this.onIdleExit() }
      ground.notFound.drain(this.intoMissing)
      void run.finish(status).then((outcome) => this.answer(job, outcome))
    }
    shell.listener = {
      onFrame: (body) => {
        if (body === "A") {
          run.begun = true
          return
        }
        const ended = shell.frames.ended(body)
        if (ended === undefined) return
        this.status = ended.status
        this.reply = ended.reply
        if (ended.cwd !== "") this.cwd = ended.cwd
        finish(ended.status)
      },
      onExit: (code) => {
        this.onExit(ground)
        if (run.begun || run.stopped !== undefined || job.retried === true) {
          this.status = code
          return finish(code)
        }
        run.settle()
        pool.give(pipes)
        job.retried = true
        this.begin(job)
      }
    }
    const nonce = crypto.randomUUID()
    shell.frames.expect(nonce)
    if (this.reply !== "") shell.write(Protocol.setReply(this.reply))
    shell.write(Protocol.run(directory, pipes.paths, nonce, this.status))
    this.longRunTimer.refresh()
  }

  private onLongRun(): void {
    const run = this.active?.run
    if (run === undefined || this.ground === undefined) return
    run.attach()
    this.ground.state.attach(this.intoState)
    this.ground.notFound.attach(this.intoMissing)
  }

  private readonly intoState = (chunk: Buffer) => {
    this.state.push(Buffer.from(chunk))
  }

  private readonly intoMissing = (chunk: Buffer) => {
    this.missing = (this.missing + chunk.toString()).slice(-4096)
  }

  private onIdleExit(): void {
    if (this.ground !== undefined) this.onExit(this.ground)
  }

  /** A shell has ended: what it said of its state is for the next one. */
  private onExit(ground: Ground): void {
    this.shell = undefined
    this.reply = ""
    ground.state.drain(this.intoState)
    const state = Buffer.concat(this.state.splice(0)).toString()
    this.restoration = Protocol.restoration(state, Object.keys(this.environment))
    if (this.restoration === undefined) {
      this.notices.push(
        `The shell ended without handing on its state (it was killed, replaced by exec, or has an EXIT trap of its own): ` +
          `the next command runs in a new shell in ${this.cwd}; variables, functions and options are lost.`
      )
    }
  }

  private answer(job: Job, outcome: Outcome): void {
    const { status, stderr, stdout, stopped } = outcome
    const notFound = status === ExitCode.notFound ? this.missing.split("\0").at(-2) : undefined
    this.missing = ""
    const notices = this.notices.splice(0)
    const result: CommandResult = {
      stdout: stdout.text,
      stderr: stderr.text,
      exitCode: stopped === "cancelled" ? ExitCode.interrupted : status,
      ...(notFound === undefined ? {} : { notFound }),
      ...(stdout.file === undefined ? {} : { stdoutFile: stdout.file }),
      ...(stderr.file === undefined ? {} : { stderrFile: stderr.file }),
      ...(notices.length === 0 ? {} : { notices })
    }
    this.end(job, () => {
      if (job.cancelled !== undefined) return job.cancelled({ ...result, exitCode: ExitCode.interrupted })
      if (stopped === undefined) return job.succeed(result)
      const reason =
        stopped === "timeout"
          ? `Command execution timeout: it ran longer than ${job.timeout} ms and was ended`
          : "the session was restarted or ended while the command ran"
      job.fail(
        new ExecutionFailed({
          cause: stopped === "timeout" ? "timeout" : "shell",
          reason,
          stdout: result.stdout,
          stderr: result.stderr,
          notices
        })
      )
    })
  }

  /** The next command first: nobody who hears of this one can come before it. */
  private end(job: Job, tell: () => void): void {
    if (this.active === job) this.active = undefined
    this.next()
    tell()
  }

  /** Asks all that the session started to end, then ends it. Until it has, no command begins. */
  private async endAll(): Promise<void> {
    this.ending = true
    await this.starting?.catch(() => {})
    const { ground, shell } = this
    if (ground !== undefined) {
      // Without the FIFO, the shell knows that nobody wants its state.
      const aside = `${ground.directory.state}.aside`
      Fs.renameSync(ground.directory.state, aside)
      shell?.end()
      // An idle shell ends by itself, and runs the user's EXIT trap.
      if (this.active === undefined && shell !== undefined) await Promise.race([shell.ended, pause(farewell)])
      await this.endMembers(shell)
      await shell?.ended
      Fs.renameSync(aside, ground.directory.state)
    }
    this.ending = false
  }

  private async endMembers(shell: Shell | undefined): Promise<void> {
    const lead = shell?.spawned ?? 0
    const members = () => ProcessTable.members(lead, this.sessionId, this.since)
    const began = performance.now()
    for (let left = members(); left.length > 0; left = members()) {
      const elapsed = performance.now() - began
      const first = elapsed < 5
      for (const one of left) {
        if (elapsed >= farewell) ProcessTable.signal(one.pid, "SIGKILL")
        // An interactive bash ignores SIGTERM.
        else if (first) ProcessTable.signal(one.pid, one.pid === lead ? "SIGHUP" : "SIGTERM")
      }
      // What another user owns (sudo) can't be ended from here.
      if (elapsed > 4 * farewell) return
      await pause(10)
    }
  }
}
