/**
 * The process that is launched for a session: it runs the session's shells, one after another (`supervisor.bash`).
 *
 * What the shells leave in the background lives as long as this process, and so does the sandbox around it. A wrapper
 * that does not pass descriptor 3 on makes it a shell itself, and then it ends with that one.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed } from "../../domain/CommandError.js"
import { UserEnvironment } from "../../domain/UserEnvironment.js"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Launch, ShellLauncher, Spawnable } from "../ShellLauncher.js"
import * as Frames from "./FrameReader.js"

/** Makes the error of a command for which there is no shell. */
export const noShell = (reason: string): ExecutionFailed =>
  new ExecutionFailed({ kind: "shell", reason: `no shell: ${reason}` })

const noShellFrom = (error: unknown): ExecutionFailed => noShell(error instanceof Error ? error.message : String(error))

/** Runs what a shell needs in order to run; fails with the error where it throws or rejects. */
export const attempt = <A>(run: () => A | Promise<A>): Effect.Effect<A, ExecutionFailed> =>
  Effect.tryPromise({ try: async () => run(), catch: noShellFrom })

/** The callbacks for a shell's frames and its end. */
export interface ShellListener {
  readonly onFrame: (body: string) => void
  /** Called with the exit code as a shell reports it: 128 plus the signal's number where a signal ended it. */
  readonly onExit: (code: number) => void
}

/** The most characters of the shell's own standard error that are kept; it explains why a shell could not start. */
const maxComplaint = 4096

/** The pid of no process, and of the parent of none. */
const nobody = -1

/** Milliseconds that a shell has to answer after its start. */
const startTimeout = 60_000

/** A shell in its supervisor, and the frames on its standard output. */
export class Shell {
  readonly frames = new Frames.FrameReader()
  alive = true
  /** Resolves once the shell has ended and its output is read. */
  readonly ended: Promise<void>
  /** The end of the shell's own standard error, which holds nothing of a command's. */
  complaint = ""
  private listener: ShellListener | undefined
  private inner = 0
  /** The pid in this process's PID namespace, once it is looked up. */
  private outer: number | undefined
  private settle = () => {}
  /** The exit code, once it has ended. */
  private code: number | undefined

  constructor(private readonly supervisor: ShellSupervisor) {
    this.ended = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  /** Passes the frames of this nonce, and the shell's end, to the listener from now on; the end also where it was before. */
  hear(nonce: string, listener: ShellListener): void {
    this.frames.expect(nonce)
    this.listener = listener
    if (this.code !== undefined) listener.onExit(this.code)
  }

  write(text: string | Buffer): void {
    if (this.alive) this.supervisor.write(text)
  }

  /** The pid of the process that was spawned: the supervisor, or what wraps it. */
  get spawned(): number {
    return this.supervisor.spawned
  }

  /** The shell's own pid in this process's PID namespace; that of no process where the shell has ended unseen. */
  get pid(): number {
    return this.hostPid ?? (this.supervisor.keeps ? nobody : this.supervisor.spawned)
  }

  /** The same; undefined where it is not known yet. */
  get hostPid(): number | undefined {
    if (this.inner === 0) return undefined
    if (this.outer === undefined) {
      const { keeps, spawned } = this.supervisor
      // Without a supervisor, the spawned process may be the shell itself.
      this.outer = ProcessTable.find(spawned, this.inner) ?? (keeps ? undefined : spawned)
    }
    return this.outer
  }

  /** The pid that the shell has for itself, as in its messages. */
  get innerPid(): number {
    return this.inner
  }

  /** Kills the shell at once, but not what it started. */
  kill(): void {
    if (!this.alive) return
    // A shell whose pid is not known can only be killed with all that is around it.
    const pid = this.supervisor.keeps ? this.hostPid : undefined
    if (pid === undefined) this.supervisor.kill()
    else ProcessTable.send(pid, "SIGKILL")
  }

  /** True where its standard input is the supervisor's, as it is between commands. */
  get isAtPrompt(): boolean {
    return ProcessTable.inputOf(this.pid) === ProcessTable.inputOf(this.supervisor.pid)
  }

  /** Looks after its supervisor (`ShellSupervisor.tend`). */
  tendSupervisor(): void {
    this.supervisor.tend()
  }

  /** Kills the supervisor too: something else may read what its shells are to read. */
  killAll(): void {
    this.supervisor.kill()
  }

  hearOutput(chunk: Buffer): void {
    for (const body of this.frames.read(chunk)) this.listener?.onFrame(body)
  }

  hearComplaint(chunk: Buffer): void {
    this.complaint = (this.complaint + chunk.toString()).slice(-maxComplaint)
  }

  /** Takes the end of the shell, when all its output is read. */
  hearExit(code: number): void {
    this.alive = false
    this.code = code
    this.listener?.onExit(code)
    this.settle()
  }

  /**
   * Lets the shell read its first lines, and waits for its answer: the directory that it is in where it could not change
   * to the one that it was told, empty otherwise. Fails with what is wrong with it.
   */
  greet(text: (nonce: string) => string): Effect.Effect<string, string> {
    return Effect.async<string, string>((resume) => {
      const nonce = Frames.make()
      this.hear(nonce, {
        onExit: (code) => resume(Effect.fail(`ended at once with exit code ${code}`)),
        onFrame: (body) => {
          const [pid, version, ...elsewhere] = body.split(" ")
          if (version === undefined || version === "") {
            return resume(Effect.fail("is not bash, and no other shell will do"))
          }
          this.inner = Number(pid)
          resume(Effect.succeed(elsewhere.join(" ")))
        }
      })
      this.write(text(nonce))
    }).pipe(
      Effect.timeoutFail({
        duration: startTimeout,
        onTimeout: () => `gave no sign of life in ${startTimeout} ms`
      })
    )
  }

  /**
   * The shell's standard error without bash's messages about having no terminal, which do not tell why it ended.
   */
  get words(): string {
    return this.complaint.replaceAll(/^bash: (cannot set terminal process group|no job control).*\n?/gm, "").trim()
  }
}

/** Milliseconds after the exit of the process in which its last output may still arrive. */
const lastWords = 50

/** The most turns of the event loop in which a dead shell's last output is read. */
const mostTurns = 100

/** The first word to the supervisor, which tells it that descriptor 3 is ours. */
const greeting = "synapse-supervisor"

const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : Os.constants.signals[signal])
}

/** A supervisor that was spawned, and the shell that runs in it. */
export class ShellSupervisor {
  /** The pid of the spawned process: a wrapper, or the supervisor itself. It leads a session of its own, without a terminal. */
  readonly spawned: number
  /** The file that the supervisor runs, by which it is told from the session's own processes. */
  readonly script: string
  /** False once the process has ended. */
  alive = true
  /** Resolves once the process has ended and all its output is read. */
  readonly over: Promise<void>
  /** Resolves once the supervisor reports that it runs, and what wraps it has done its work; never where nothing keeps shells. */
  readonly running: Promise<void>
  private tellRunning: () => void = () => {}
  /** True where shells can follow one another in the process. */
  keeps = false
  /** The first process of a PID namespace of the session's own, as this process knows it. */
  private init: number | undefined
  /** True once the input has ended, perhaps by the doing of a wrapper: no further shell can start. */
  private isAtEnd = false
  /** The shell that the process starts with. */
  readonly first: Shell
  private shell: Shell | undefined
  private isEnding = false
  /** True once all was killed, and there was nothing but the shell. */
  private isAlone = false
  /** The supervisor's own pid, where another process was spawned, which wraps it. */
  private wrapped: number | undefined
  /** The line that separates what a dead shell has not read from the lines for the next shell. */
  private readonly token = Frames.make()
  private readonly lifeline: Net.Socket

  constructor(
    private readonly child: ChildProcess.ChildProcessWithoutNullStreams,
    private readonly directory: SessionDirectory,
    private readonly onShellExit: (shell: Shell) => void
  ) {
    this.spawned = child.pid ?? 0
    // A shell that waits must not keep the process alive; while a command runs, CommandQueue does.
    child.unref()
    for (const pipe of child.stdio) if (pipe instanceof Net.Socket) pipe.unref()
    this.first = new Shell(this)
    this.shell = this.first
    // A write to a process that has just died fails; its exit reports that.
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => this.shell?.hearOutput(chunk))
    child.stderr.on("data", (chunk: Buffer) => this.shell?.hearComplaint(chunk))
    this.running = new Promise((resolve) => {
      this.tellRunning = resolve
    })
    this.lifeline = child.stdio[3] as Net.Socket
    this.lifeline.on("error", () => {})
    this.lifeline.on("data", (chunk: Buffer) => this.hearReport(chunk.toString("latin1")))
    this.script = directory.supervisor
    this.over = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.alive = false
        const ending = this.shell
        if (ending?.alive === true) this.killOrphan(ending)
        this.dismiss()
        // If this process was busy meanwhile, the last output is read in the event loop's turn after the timer's.
        const silence = () => setImmediate(() => setImmediate(() => child.stdout.destroy()))
        const told = setTimeout(silence, lastWords)
        const gone = () => {
          clearTimeout(told)
          child.stderr.destroy()
          this.finish(ending, exitCode(code, signal))
          resolve()
        }
        if (child.stdout.closed) gone()
        else child.stdout.once("close", gone)
      })
    })
  }

  /** Lets the supervisor start its first shell, after the words for what wraps it. */
  begin(words: string): void {
    // The signal by which the supervisor lets a terminal go on.
    const terminal = this.directory.terminal === undefined ? "" : "CONT"
    this.lifeline.write(`${words}${greeting}\0${this.token}\0${this.directory.path}\0${terminal}\0`)
  }

  /** True where the next shell can start, once the last one has ended. */
  get canGoOn(): boolean {
    return this.alive && this.keeps && !this.isAtEnd
  }

  /** The supervisor's own pid in this process's PID namespace; that of what was spawned where nothing keeps shells. */
  get pid(): number {
    return this.wrapped ?? this.spawned
  }

  /** True where nothing can be left of all that it has started: there was nothing, or the PID namespace has ended. */
  get isAllGone(): boolean {
    return !this.alive && (this.isAlone || (this.init !== undefined && !ProcessTable.isThere(this.init)))
  }

  /** Starts the next shell; only where the last one has ended, and only where `canGoOn`. */
  next(): Shell {
    const shell = new Shell(this)
    this.shell = shell
    this.child.stdin.write(`\n${this.token}\n`)
    return shell
  }

  write(text: string | Buffer): void {
    this.child.stdin.write(text)
  }

  /** Lets a supervisor go on that a command has stopped (SIGSTOP), and ends what wraps one that was killed. */
  tend(): void {
    this.goOn()
    if (this.wrapped !== undefined && !ProcessTable.isThere(this.wrapped)) this.kill()
  }

  /** Has it give the pseudo-terminal the size that is in the session's directory. */
  tellSize(): void {
    if (this.keeps) ProcessTable.send(this.pid, "SIGWINCH")
  }

  private goOn(): void {
    ProcessTable.send(this.pid, "SIGCONT")
  }

  /** Closes the input: an idle shell then runs its EXIT trap and ends, and the process ends with it. */
  end(): void {
    this.isEnding = true
    if (this.alive) this.goOn()
    this.child.stdin.end()
    if (this.shell?.alive !== true) this.dismiss()
  }

  /**
   * Kills all at once where nothing runs but the idle shell and what is around it; returns whether it did. `members` lists
   * all processes of the session, daemons too.
   */
  endAtOnce(members: (spawned: number) => ReadonlyArray<ProcessTable.Process>): boolean {
    const { init, shell, spawned, wrapped } = this
    const pid = shell?.hostPid
    if (shell === undefined || pid === undefined || !this.keeps) return false
    const all = init === undefined ? members(spawned).map((one) => one.pid) : ProcessTable.below(spawned)
    // Without a namespace, the guard is the supervisor's other child.
    const own = init === undefined ? [spawned, ...ProcessTable.children(spawned)] : [init, wrapped, pid]
    if (!all.includes(pid) || all.some((one) => !own.includes(one))) return false
    this.isAlone = true
    shell.alive = false
    // The first process of a namespace takes all others with it.
    for (const one of init === undefined ? all : [init]) ProcessTable.send(one, "SIGKILL")
    return true
  }

  /** Kills the process at once, with its shell, but not what that has started. */
  kill(): void {
    if (!this.alive) return
    const pid = this.shell?.hostPid
    if (pid !== undefined) ProcessTable.send(pid, "SIGKILL")
    this.child.kill("SIGKILL")
  }

  /** Without this word, the supervisor's guard takes the end of the socket for the death of this program. */
  private dismiss(): void {
    if (this.lifeline.writableEnded) return
    // Mostly nobody hears it. node writes out the stack of that error, and V8 then looks for the ends of a bundle's lines.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    this.lifeline.end("quit\0")
    Error.stackTraceLimit = stackTraceLimit
  }

  /** Kills a shell whose supervisor is dead: its state would mix with that of its successor. */
  private killOrphan(shell: Shell): void {
    shell.alive = false
    if (!this.keeps || shell.innerPid === 0) return
    const known = shell.hostPid
    for (const { pid, session } of ProcessTable.list()) {
      // On a terminal, it leads a session of its own.
      const isOurs = session === this.spawned || pid === known
      if (isOurs && ProcessTable.innerPid(pid) === shell.innerPid) ProcessTable.send(pid, "SIGKILL")
    }
  }

  /**
   * Takes what the supervisor says: `K` with its pid once it keeps shells, `E` with the exit code of each that has ended, and `Q` once its
   * input has ended.
   */
  private hearReport(text: string): void {
    this.keeps = true
    const inner = Number(/K(\d+)\0/.exec(text)?.[1] ?? ProcessTable.innerPid(this.spawned))
    if (ProcessTable.innerPid(this.spawned) !== inner) this.wrapped = ProcessTable.find(this.spawned, inner)
    // A namespace around this process too has the same number for it.
    if (inner === 2 && this.wrapped !== undefined && this.wrapped !== inner) {
      this.init ??= ProcessTable.stat(this.wrapped)?.parent
    }
    if (text.includes("Q")) this.isAtEnd = true
    this.tellRunning()
    const code = /E(\d+)\0/.exec(text)?.[1]
    if (this.isAtEnd || (this.isEnding && code !== undefined)) this.dismiss()
    const ending = this.shell
    // A shell that lives when the input has ended was asked for, and has not started.
    if (ending?.alive !== true || (code === undefined && !this.isAtEnd)) return
    ending.alive = false
    this.listenOut(ending, Number(code ?? 0), mostTurns)
  }

  /** Ends a shell that is dead when all that it has written is read; that lies in the socket already. */
  private listenOut(ending: Shell, code: number, turns: number): void {
    const stdout = this.child.stdout as Net.Socket
    const before = stdout.bytesRead
    setImmediate(() =>
      setImmediate(() => {
        if (stdout.bytesRead === before || turns === 0) this.finish(ending, code)
        else this.listenOut(ending, code, turns - 1)
      })
    )
  }

  private finish(ending: Shell | undefined, code: number): void {
    if (ending === undefined || this.shell !== ending) return
    this.shell = undefined
    this.onShellExit(ending)
    ending.hearExit(code)
  }
}

const withUmask = <A>(umask: number | undefined, run: () => A): A => {
  if (umask === undefined) return run()
  const own = process.umask(umask)
  try {
    return run()
  } finally {
    process.umask(own)
  }
}

/** Spawns a supervisor, whose first shell starts at once. Fails where the program can't be spawned. */
const spawn = (
  launch: Launch,
  { cwd, directory, onExit }: LaunchOptions
): Effect.Effect<ShellSupervisor, ExecutionFailed> =>
  Effect.gen(function* () {
    const { args, program } = launch.spawnable
    const { umask } = yield* UserEnvironment
    const { child, failed } = yield* Effect.try({
      try: () => {
        if (!Fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
          throw new Error(`the working directory ${cwd} does not exist`)
        }
        const child = withUmask(umask, () =>
          ChildProcess.spawn(program, args, {
            cwd,
            detached: true,
            env: launch.environment,
            stdio: ["pipe", "pipe", "pipe", "pipe"]
            // The types know this only for a list of three.
          })
        ) as ChildProcess.ChildProcessWithoutNullStreams
        // At once, for an error that nobody hears ends the program.
        return { child, failed: new Promise<Error>((resolve) => child.on("error", resolve)) }
      },
      catch: noShellFrom
    })
    if (child.pid !== undefined) return new ShellSupervisor(child, directory, onExit)
    // Where this process has run out of descriptors, the child has no streams either.
    const error = yield* Effect.promise(() => failed)
    return yield* noShell(`${program} could not be started: ${error.message}`)
  })

/** A restart that may be asked for while a shell starts, whose answer is not waited for then. */
export interface Restart {
  readonly isAsked: () => boolean
  /** Fails once it is asked for. */
  readonly asked: Effect.Effect<never, ExecutionFailed>
}

interface LaunchOptions {
  readonly launcher: ShellLauncher
  /** The command line of the session's shells, from the settings. */
  readonly shell: Spawnable
  readonly directory: SessionDirectory
  readonly environment: Readonly<Record<string, string>>
  /** The directory that the process starts in. */
  readonly cwd: string
  /** The directory that the first shell changes to. */
  readonly entered: string
  /** Lets the first shell read its first lines; fails with what is wrong with it. */
  readonly greet: (shell: Shell) => Effect.Effect<void, string>
  /** Run as soon as the supervisor, or what wraps it, waits for nothing more. */
  readonly onBegun: Effect.Effect<unknown>
  /** Called once for each shell, when it has ended and its output is read. */
  readonly onExit: (gone: Shell) => void
  readonly restart: Restart
}

/** A supervisor that was launched, and its first shell, which has answered. */
export interface LaunchedShell {
  readonly shell: Shell
  readonly supervisor: ShellSupervisor
  /** Waits until the supervisor has ended and its launch's resources are released. */
  readonly over: Effect.Effect<void>
}

/** Matches what another shell says of `--norc`. */
const unknownOption = /^(?:\S+: )?(?:0: )?(?:Illegal option --|unknown option|bad option|no such option)|fish: --norc/im

/**
 * Launches a supervisor. A fiber of its own keeps the launch's scope open as long as the supervisor lives. A launch on trial
 * that fails is repeated once. Fails where no shell can be started, with the shell's own message if there is one.
 */
export const launch = (options: LaunchOptions): Effect.Effect<LaunchedShell, ExecutionFailed> =>
  Effect.gen(function* () {
    const { directory, environment, greet, launcher, restart } = options
    const started = yield* Deferred.make<Omit<LaunchedShell, "over">, ExecutionFailed>()
    const shell = { ...options.shell, args: [...options.shell.args, directory.supervisor] }
    let isTrial = false
    const life = Effect.gen(function* () {
      const launch = yield* launcher({ shell, directory: directory.path, cwd: options.entered, environment })
      isTrial = launch.isTrial
      const supervisor = yield* Effect.acquireRelease(spawn(launch, options), (supervisor) =>
        Effect.sync(() => supervisor.kill())
      )
      // What is left to do is done while the program starts.
      supervisor.begin(yield* launch.ready)
      yield* options.onBegun
      const { first } = supervisor
      const answer = Effect.mapError(greet(first), (what) => {
        const { words } = first
        const { args, program } = launch.spawnable
        const name = [program, ...args.filter((word) => word !== directory.supervisor)].join(" ")
        // The option is one of ours, so that the shell is to blame, wherever it was started.
        if (unknownOption.test(words)) {
          return noShell(`${shell.program} is not bash, and no other shell will do: SYNAPSE_SHELL names it`)
        }
        return launch.explain(words) ?? noShell(`${name} ${what}${words === "" ? "" : `: ${words}`}`)
      })
      const answered = yield* Deferred.make<void>()
      // What wraps the shells is looked at while the first of them starts; a wrapper may keep the supervisor's report back.
      const running = Effect.raceFirst(
        Effect.promise(() => supervisor.running),
        Deferred.await(answered)
      )
      const proof = yield* Effect.forkScoped(Effect.zipRight(running, launch.prove(supervisor.spawned)))
      yield* Effect.raceFirst(answer, restart.asked)
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(proof)
      yield* launch.started
      yield* Deferred.succeed(started, { shell: first, supervisor })
      yield* Effect.promise(() => supervisor.over)
    }).pipe(
      Effect.scoped,
      Effect.retry({ times: 1, while: () => isTrial && !restart.isAsked() }),
      Effect.catchAllCause((cause) => Deferred.failCause(started, cause))
    )
    const fiber = yield* Effect.forkDaemon(life)
    const launched = yield* Deferred.await(started)
    return { ...launched, over: Effect.asVoid(Fiber.await(fiber)) }
  })
