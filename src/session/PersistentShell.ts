/**
 * Keeps a shell for commands: starts one when there is need of it, feeds it one command after the other, and hands the
 * state of one that ended to the next.
 *
 * Written with callbacks: this is the way that every command goes.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { ExecutionFailed } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import { CommandRun, type Outcome } from "./CommandRun.js"
import * as Interruption from "./Interruption.js"
import * as Job from "./Job.js"
import type { PipePair } from "./PipePool.js"
import { Plumbing } from "./Plumbing.js"
import * as ProcessTable from "./ProcessTable.js"
import * as Protocol from "./Protocol.js"
import { SessionDirectory } from "./SessionDirectory.js"
import * as SessionEnd from "./SessionEnd.js"
import type { Settings } from "./SessionSettings.js"
import { Shell } from "./Shell.js"
import type { ShellBridge } from "./ShellBridge.js"
import * as ShellEnvironment from "./ShellEnvironment.js"
import type { Launch } from "./ShellLauncher.js"

/** A command that runs longer than this many milliseconds has its output read as it comes; until then nobody waits. */
const longRun = 3

export interface PromisedLaunch extends Omit<Launch, "started"> {
  readonly started: (pid: number) => Promise<Either.Either<void, ExecutionFailed>>
  readonly close: () => Promise<void>
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const ended = () => new ExecutionFailed({ cause: "shell", reason: "the session has ended" })

/**
 * @since 0.1.0
 * @category models
 */
export class PersistentShell {
  cwd: string
  private readonly queue: Array<Job.Job> = []
  private active: Job.Job | undefined
  private shell: Shell | undefined
  private plumbing: Plumbing | undefined
  /** What a command has deleted, while a background child still writes to its pipes. */
  private readonly former: Array<Plumbing> = []
  private status = 0
  private reply = ""
  /** Text that gives the next shell the state of the last. */
  private restoration: string | undefined
  private notices: Array<string> = []
  private disposed = false
  /** Frames in a row that did not tell the exit code for sure. */
  private unsure = 0
  private ending = false
  private restarting: Promise<void> = Promise.resolve()
  private starting: Promise<unknown> | undefined
  /** Settled when nothing is left of the last shell's launch. */
  private closing: Promise<void> = Promise.resolve()
  private readonly sessionId = crypto.randomUUID()
  private readonly environment: Record<string, string>
  private readonly since = ProcessTable.ticksAt(performance.now())
  private readonly longRunTimer: NodeJS.Timeout
  private readonly forget: () => void

  constructor(
    private readonly settings: Settings,
    private readonly launch: (request: {
      directory: string
      environment: Readonly<Record<string, string>>
    }) => Promise<Either.Either<PromisedLaunch, ExecutionFailed>>,
    private readonly bridge: Context.Tag.Service<ShellBridge>,
    private readonly patience = Interruption.defaultPatience
  ) {
    this.cwd = settings.cwd ?? process.cwd()
    this.environment = ShellEnvironment.make(this.sessionId, settings.environment)
    this.longRunTimer = setTimeout(() => this.onLongRun(), longRun).unref()
    this.forget = SessionEnd.atExit(() => this.abort())
  }

  /** This process ends at once: nothing can be asked or waited for. */
  private abort(): void {
    SessionEnd.killMembers(this.shell?.spawned ?? 0, this.sessionId, this.since)
    this.plumbing?.close(this.settings.keepOutputFiles)
  }

  submit(job: Job.Job): void {
    this.queue.push(job)
    this.next()
  }

  /** Ends a command that waits or runs, and answers with what it had put out. */
  cancel(job: Job.Job, cancelled: (result: CommandResult.CommandResult) => void): void {
    job.cancelled = cancelled
    const waiting = this.queue.indexOf(job)
    if (waiting >= 0) {
      this.queue.splice(waiting, 1)
      cancelled(CommandResult.make({ exitCode: ExitCode.interrupted }))
    } else {
      job.run?.stop("cancelled")
    }
  }

  /** Ends the shell and all that it started. What waits runs in the next one. */
  restart(): Promise<void> {
    this.restarting = this.restarting.then(() => this.restartNow())
    return this.restarting
  }

  private async restartNow(): Promise<void> {
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
    this.next()
    await this.restart()
    for (const plumbing of this.former.splice(0)) plumbing.close(this.settings.keepOutputFiles)
    this.plumbing?.close(this.settings.keepOutputFiles)
    this.plumbing = undefined
    this.forget()
  }

  private next(): void {
    if (this.disposed) for (const job of this.queue.splice(0)) Job.refuse(job, ended())
    if (this.active !== undefined || this.ending) return
    const job = this.queue.shift()
    if (job === undefined) return
    this.active = job
    this.begin(job)
  }

  private begin(job: Job.Job): void {
    const { plumbing, shell } = this
    if (plumbing !== undefined && shell?.alive === true && !plumbing.lost) {
      const pipes = plumbing.pool.take()
      if (!(pipes instanceof Promise)) {
        if (!pipes.lost) return this.feed(job, shell, plumbing, pipes)
        plumbing.broken = true
      }
    }
    this.prepare().then(
      ([shell, plumbing, pipes]) => this.feed(job, shell, plumbing, pipes),
      (error) =>
        this.end(job, () =>
          Job.refuse(
            job,
            error instanceof ExecutionFailed
              ? error
              : new ExecutionFailed({ cause: "shell", reason: `no shell: ${reasonOf(error)}` })
          )
        )
    )
  }

  /** The next shell's turn: where the session is being restarted, that is the one after. */
  private again(job: Job.Job): void {
    if (!this.ending) return this.begin(job)
    this.active = undefined
    this.queue.unshift(job)
    if (this.disposed) this.next()
  }

  private async prepare(): Promise<[Shell, Plumbing, PipePair]> {
    if (this.plumbing?.lost === true) await this.move(this.plumbing)
    if (this.plumbing === undefined || this.shell?.alive !== true) {
      const starting = this.start()
      this.starting = starting
      await starting
    }
    const { plumbing, shell } = this
    if (plumbing === undefined || shell === undefined) throw new Error("the shell ended as soon as it had started")
    return [shell, plumbing, await plumbing.pool.take()]
  }

  /** Other pipes, in place of some that a command has deleted (`rm -rf /tmp/*`). */
  private async move(from: Plumbing): Promise<void> {
    this.plumbing = await this.lay(new SessionDirectory())
    if (from.pool.idle) from.close(this.settings.keepOutputFiles)
    else this.former.push(from)
    const { directory } = this.plumbing
    directory.define(Protocol.definitions(directory, this.bridge))
    this.shell?.write(Protocol.moveTo(directory, from.directory, this.bridge))
  }

  private lay(directory: SessionDirectory): Promise<Plumbing> {
    return Plumbing.lay(directory, this.bridge, () => this.active?.input)
  }

  /** A shell, and at the first time its pipes: both at once. */
  private async start(): Promise<void> {
    const known = this.plumbing
    const directory = known?.directory ?? new SessionDirectory()
    if (this.restoration !== undefined) {
      Fs.writeFileSync(directory.restore, this.restoration, { encoding: "latin1", mode: 0o600 })
    }
    const [laid, started] = await Promise.allSettled([known ?? this.lay(directory), this.startIn(directory)])
    if (laid.status === "fulfilled" && started.status === "fulfilled" && !this.disposed) {
      this.restoration = undefined
      this.plumbing = laid.value
      this.shell = started.value
      this.shell.listener = { onFrame: () => {}, onExit: () => this.onIdleExit() }
      return
    }
    if (started.status === "rejected" && this.restoration !== undefined && !this.disposed) return this.startWithout()
    if (started.status === "fulfilled") started.value.kill()
    if (known === undefined && laid.status === "fulfilled") laid.value.close(false)
    throw started.status === "rejected"
      ? started.reason
      : laid.status === "rejected"
        ? laid.reason
        : new Error("the session has ended")
  }

  /** A shell without the state of the last, which ends every new one (`PROMPT_COMMAND=exit`). */
  private async startWithout(): Promise<void> {
    const state = this.restoration
    this.restoration = undefined
    try {
      await this.start()
    } catch (error) {
      this.restoration = state
      throw error
    }
    this.notices.push(
      `The last shell's state let no other one live: ` +
        `this command ran in a new shell in ${this.cwd}; variables, functions and options are lost.`
    )
  }

  private async startIn(directory: SessionDirectory, isAgain = false): Promise<Shell> {
    directory.define(Protocol.definitions(directory, this.bridge))
    const launched = await this.launch({ directory: directory.path, environment: this.environment })
    if (Either.isLeft(launched)) throw launched.left
    const launch = launched.right
    try {
      const shell = await Shell.start({
        launch,
        directory,
        bridge: this.bridge,
        // A later one may find that the directory of the first is gone.
        spawnCwd: this.plumbing === undefined ? (this.settings.cwd ?? process.cwd()) : "/",
        cwd: this.cwd,
        restore: this.restoration !== undefined
      })
      this.closing = shell.ended.then(launch.close)
      return shell
    } catch (error) {
      await launch.close()
      if (launch.isTrial && !isAgain) return this.startIn(directory, true)
      throw error
    }
  }

  private feed(job: Job.Job, shell: Shell, plumbing: Plumbing, pipes: PipePair): void {
    const { directory, pool } = plumbing
    if (this.ending) {
      pool.give(pipes)
      return this.again(job)
    }
    if (job.cancelled !== undefined) {
      pool.give(pipes)
      return this.answer(job, { status: 0, stopped: "cancelled", stdout: { text: "" }, stderr: { text: "" } })
    }
    try {
      plumbing.calls.offer()
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
      shell.listener = { onFrame: () => {}, onExit: () => this.onIdleExit() }
      const missing = plumbing.takeMissing()
      void run.finish(status).then((outcome) => {
        if (status !== 1 || run.heard > 0 || !shell.alive) return this.answer(job, outcome, missing)
        // What the shell has said of itself is there with the next turn of the event loop.
        setImmediate(() => {
          if (pipes.refusedBy(shell.complaint)) this.replace(job, shell, plumbing)
          else this.answer(job, outcome, missing)
        })
      })
    }
    shell.listener = {
      onFrame: (body) => {
        if (body === "A") {
          run.begun = true
          return
        }
        const ended = shell.frames.status(body)
        if (ended === undefined) return
        if (!run.begun) {
          run.giveBack()
          return this.replace(job, shell, plumbing)
        }
        // An interruption may have hit the reserved word itself; a command that is ended has no code of its own to hide.
        if (!ended.sure && run.stopped === undefined) {
          // Taking the aliases away was of no use: something else hides it, and would for ever.
          if (this.unsure++ > 0) {
            run.giveBack()
            return this.replace(job, shell, plumbing)
          }
          this.hidden(shell)
        } else this.unsure = 0
        this.status = ended.status
        this.reply = ended.reply
        if (ended.cwd !== "") this.cwd = ended.cwd
        finish(ended.status)
      },
      onExit: (code) => {
        this.onExit(plumbing)
        if (run.begun || run.stopped !== undefined) {
          this.status = code
          return finish(code)
        }
        run.giveBack()
        if (job.retried === true) {
          const reason = `the shell ended before the command began, with exit code ${code}, and so did the next one`
          return this.end(job, () => Job.refuse(job, new ExecutionFailed({ cause: "crash", reason })))
        }
        job.retried = true
        this.again(job)
      }
    }
    const nonce = Protocol.makeNonce()
    shell.frames.expect(nonce)
    if (this.reply !== "") shell.write(Protocol.setReply(this.reply))
    shell.write(Protocol.run(directory, pipes.paths, nonce, this.status))
    this.longRunTimer.refresh()
  }

  /** A shell that can't run commands any more (what it needs is disabled, redefined or forbidden) makes room for another. */
  private replace(job: Job.Job, shell: Shell, plumbing: Plumbing): void {
    shell.listener = {
      onFrame: () => {},
      onExit: () => {
        this.onExit(plumbing)
        this.restoration = undefined
        this.notices = [
          `The shell could run no command any more (a builtin, a limit or a restriction was changed): ` +
            `this one ran in a new shell in ${this.cwd}; variables, functions and options are lost.`
        ]
        if (job.retried !== true) {
          job.retried = true
          return this.again(job)
        }
        this.end(job, () =>
          Job.refuse(job, new ExecutionFailed({ cause: "shell", reason: "the shell runs no commands" }))
        )
      }
    }
    shell.kill()
  }

  private hidden(shell: Shell): void {
    shell.write(Protocol.dropAliases)
    this.notices.push(
      "The exit code is not the command's own: an alias with the name of a reserved word (select, in, do or done) hides it. " +
        "Such aliases were removed."
    )
  }

  private onLongRun(): void {
    const run = this.active?.run
    if (run === undefined || run.over) return
    run.attach()
    this.plumbing?.attach()
  }

  private onIdleExit(): void {
    if (this.plumbing !== undefined) this.onExit(this.plumbing)
  }

  /** A shell has ended: what it said of its state is for the next one. */
  private onExit(plumbing: Plumbing): void {
    this.shell = undefined
    this.reply = ""
    this.restoration = Protocol.restoration(plumbing.takeState(), Object.keys(this.environment))
    this.unsure = 0
    if (this.restoration === undefined && !this.ending) {
      this.notices.push(
        `The shell ended without handing on its state (it was killed, replaced by exec, or has an EXIT trap of its own): ` +
          `the next command runs in a new shell in ${this.cwd}; variables, functions and options are lost.`
      )
    }
  }

  private answer(job: Job.Job, outcome: Outcome, missing?: string): void {
    const notices = this.notices.splice(0)
    const called = this.bridge.takeEnding()
    this.end(job, () =>
      Job.answer(job, outcome, notices, outcome.status === ExitCode.notFound ? missing : undefined, called)
    )
  }

  /** The next command first: nobody who hears of this one can come before it. */
  private end(job: Job.Job, tell: () => void): void {
    if (this.active === job) this.active = undefined
    this.next()
    tell()
  }

  /** Asks all that the session started to end, then ends it. Until it has, no command begins. */
  private async endAll(): Promise<void> {
    this.ending = true
    await this.starting?.catch(() => {})
    const { plumbing, shell } = this
    if (plumbing !== undefined) {
      plumbing.wantState(false)
      if (plumbing.calls.isBusy)
        await Promise.race([Effect.runPromise(plumbing.calls.dismiss), SessionEnd.pause(SessionEnd.farewell)])
      shell?.end()
      // An idle shell ends by itself, and runs the user's EXIT trap.
      if (this.active === undefined && shell !== undefined)
        await Promise.race([shell.ended, SessionEnd.pause(SessionEnd.farewell)])
      await SessionEnd.endMembers(shell?.spawned ?? 0, this.sessionId, this.since)
      await this.closing
      plumbing.wantState(true)
    }
    this.ending = false
  }
}
