/**
 * The process launched for a session, which runs the session's shells one after another (`supervisor.bash`).
 *
 * Background processes of the shells live as long as this process, and so does the sandbox around it. If a wrapper
 * does not pass on descriptor 3, the process becomes the shell itself, and ends with it.
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
import * as Protocol from "./Protocol.js"

/** Makes the error for a command that has no shell to run in. */
export const noShell = (reason: string): ExecutionFailed =>
  new ExecutionFailed({ kind: "shell", reason: `no shell: ${reason}` })

const noShellFrom = (error: unknown): ExecutionFailed => noShell(error instanceof Error ? error.message : String(error))

/** Runs a step of starting a shell. Fails with ExecutionFailed if it throws or rejects. */
export const attempt = <A>(run: () => A | Promise<A>): Effect.Effect<A, ExecutionFailed> =>
  Effect.tryPromise({ try: async () => run(), catch: noShellFrom })

export interface ShellListener {
  readonly onFrame: (body: string) => void
  /** Called with the exit code as a shell reports it: 128 plus the signal's number after a signal. */
  readonly onExit: (code: number) => void
}

/** The most characters kept of the shell's own standard error, which explains why a shell could not start. */
const maxComplaint = 4096

/** A pid that no process has, not even as its parent's. */
const nobody = -1

/** Milliseconds that a new shell has to answer. */
const startTimeout = 60_000

/** A shell in its supervisor, and the frames on its standard output. */
export class Shell {
  readonly frames = new Protocol.FrameReader()
  alive = true
  /** Resolves once the shell has ended and its output is read. */
  readonly ended: Promise<void>
  /** The end of the shell's own standard error, which holds no command's output. */
  complaint = ""
  private listener: ShellListener | undefined
  /** The shell's pid in its own view, as in its messages; 0 until it has answered. */
  innerPid = 0
  /** The pid in this process's PID namespace, once looked up. */
  private outer: number | undefined
  private settle = () => {}
  /** The exit code, once the shell has ended. */
  private code: number | undefined

  constructor(private readonly supervisor: ShellSupervisor) {
    this.ended = new Promise((resolve) => {
      this.settle = resolve
    })
  }

  /**
   * Sends frames with this nonce to the listener from now on, and the shell's end, even if it has ended before. `begun`
   * is the nonce of the first frame, for the start of a command.
   */
  hear(nonce: string, listener: ShellListener, begun?: string): void {
    this.frames.expect(nonce, begun)
    this.listener = listener
    if (this.code !== undefined) listener.onExit(this.code)
  }

  write(text: string | Buffer): void {
    if (this.alive) this.supervisor.write(text)
  }

  /** The shell's pid in this process's PID namespace, or `nobody` if the shell has ended unseen. */
  get pid(): number {
    return this.hostPid ?? (this.supervisor.keeps ? nobody : this.supervisor.spawned)
  }

  /** Like `pid`, but undefined while it is not known. */
  get hostPid(): number | undefined {
    if (this.innerPid === 0) return undefined
    if (this.outer === undefined) {
      const { keeps, spawned } = this.supervisor
      // Without a supervisor, the spawned process may be the shell itself.
      this.outer = ProcessTable.find(spawned, this.innerPid) ?? (keeps ? undefined : spawned)
    }
    return this.outer
  }

  /** Kills the shell at once, but not what it started. */
  kill(): void {
    if (!this.alive) return
    // A shell whose pid is not known can only be killed with its supervisor.
    const pid = this.supervisor.keeps ? this.hostPid : undefined
    if (pid === undefined) this.supervisor.kill()
    else ProcessTable.send(pid, "SIGKILL")
  }

  /** True if its standard input is the supervisor's, as it is between commands. */
  get isAtPrompt(): boolean {
    return ProcessTable.inputOf(this.pid) === ProcessTable.inputOf(this.supervisor.pid)
  }

  tendSupervisor(): void {
    this.supervisor.tend()
  }

  /** Kills the supervisor too, because another process may be reading the input of its shells. */
  killAll(): void {
    this.supervisor.kill()
  }

  hearOutput(chunk: Buffer): void {
    for (const body of this.frames.read(chunk)) this.listener?.onFrame(body)
  }

  hearComplaint(chunk: Buffer): void {
    this.complaint = (this.complaint + chunk.toString()).slice(-maxComplaint)
  }

  /** Takes the shell's exit code, once all its output is read. */
  hearExit(code: number): void {
    this.alive = false
    this.code = code
    this.listener?.onExit(code)
    this.settle()
  }

  /**
   * Lets the shell read its first lines and waits for its answer. Returns the directory that the shell is in if it
   * could not change to the requested one, otherwise an empty string. Fails with what is wrong with the shell.
   */
  greet(text: (nonce: string) => string): Effect.Effect<string, string> {
    return Effect.async<string, string>((resume) => {
      const nonce = Protocol.makeNonce()
      this.hear(nonce, {
        onExit: (code) => resume(Effect.fail(`ended at once with exit code ${code}`)),
        onFrame: (body) => {
          const [pid, version, ...elsewhere] = body.split(" ")
          if (version === undefined || version === "") {
            return resume(Effect.fail("is not bash, and no other shell will do"))
          }
          this.innerPid = Number(pid)
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

  /** The shell's standard error without bash's messages about a missing terminal, which do not explain its end. */
  get words(): string {
    return this.complaint.replaceAll(/^bash: (cannot set terminal process group|no job control).*\n?/gm, "").trim()
  }
}

/** Milliseconds after the process's exit in which its last output may still arrive. */
const lastWords = 50

/** The most turns of the event loop spent reading an ended shell's last output. */
const mostTurns = 100

/** The first word to the supervisor, by which it recognizes that descriptor 3 is Synapse's. */
const greeting = "synapse-supervisor"

const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : Os.constants.signals[signal])
}

/** A spawned supervisor and the shell in it. */
export class ShellSupervisor {
  /** The spawned process's pid: a wrapper, or the supervisor itself. It leads a process session without a terminal. */
  readonly spawned: number
  /** False once the process has ended. */
  alive = true
  /** Resolves once the process has ended and all its output is read. */
  readonly over: Promise<void>
  /** Resolves once the supervisor reports that it runs, with its wrapper's work done. Never without a supervisor. */
  readonly running: Promise<void>
  private tellRunning: () => void = () => {}
  /** True if shells can follow one another in the process. */
  keeps = false
  /** The first process of the session's own PID namespace, by its pid here. */
  private init: number | undefined
  /** True once the input has ended, perhaps because of a wrapper. No further shell can start then. */
  private isAtEnd = false
  readonly first: Shell
  private shell: Shell | undefined
  private isEnding = false
  /** True once everything was killed and only an idle shell had been running. */
  private isAlone = false
  /** The supervisor's own pid, if the spawned process is a wrapper around it. */
  private wrapped: number | undefined
  /** The line that separates what an ended shell has not read from the next shell's lines. */
  private readonly token = Protocol.makeNonce()
  private readonly lifeline: Net.Socket

  constructor(
    private readonly child: ChildProcess.ChildProcessWithoutNullStreams,
    private readonly directory: SessionDirectory,
    private readonly onShellExit: (shell: Shell) => void
  ) {
    this.spawned = child.pid ?? 0
    // An idle shell must not keep this process alive. While a command runs, CommandQueue does.
    child.unref()
    for (const pipe of child.stdio) if (pipe instanceof Net.Socket) pipe.unref()
    this.first = new Shell(this)
    this.shell = this.first
    // A write to a process that has just died fails. Its exit reports that.
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => this.shell?.hearOutput(chunk))
    child.stderr.on("data", (chunk: Buffer) => this.shell?.hearComplaint(chunk))
    this.running = new Promise((resolve) => {
      this.tellRunning = resolve
    })
    this.lifeline = child.stdio[3] as Net.Socket
    this.lifeline.on("error", () => {})
    this.lifeline.on("data", (chunk: Buffer) => this.hearReport(chunk.toString("latin1")))
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

  /** Lets the supervisor start its first shell. `words` come first and are for its wrapper. */
  begin(words: string): void {
    // The signal by which the supervisor resumes a stopped terminal.
    const terminal = this.directory.terminal === undefined ? "" : "CONT"
    this.lifeline.write(`${words}${greeting}\0${this.token}\0${this.directory.path}\0${terminal}\0`)
  }

  /** True if another shell can start after the last one has ended. */
  get canGoOn(): boolean {
    return this.alive && this.keeps && !this.isAtEnd
  }

  /** The supervisor's own pid in this process's PID namespace; without a supervisor, the spawned process's. */
  get pid(): number {
    return this.wrapped ?? this.spawned
  }

  /** True if nothing that it started can be left: nothing else ran, or the PID namespace has ended. */
  get isAllGone(): boolean {
    return !this.alive && (this.isAlone || (this.init !== undefined && !ProcessTable.isThere(this.init)))
  }

  /** Starts the next shell. Call it only after the last one has ended, and only if `canGoOn`. */
  next(): Shell {
    const shell = new Shell(this)
    this.shell = shell
    this.child.stdin.write(`\n${this.token}\n`)
    return shell
  }

  write(text: string | Buffer): void {
    this.child.stdin.write(text)
  }

  /** Resumes a supervisor that a command has stopped (SIGSTOP), and ends the wrapper of one that was killed. */
  tend(): void {
    this.goOn()
    if (this.wrapped !== undefined && !ProcessTable.isThere(this.wrapped)) this.kill()
  }

  /** Makes it give the pseudo-terminal the size in the session's directory. */
  tellSize(): void {
    if (this.keeps) ProcessTable.send(this.pid, "SIGWINCH")
  }

  private goOn(): void {
    ProcessTable.send(this.pid, "SIGCONT")
  }

  /** Closes the input. An idle shell then runs its EXIT trap and ends, and the process with it. */
  end(): void {
    this.isEnding = true
    if (this.alive) this.goOn()
    this.child.stdin.end()
    if (this.shell?.alive !== true) this.dismiss()
  }

  /**
   * Kills everything at once if nothing runs but the idle shell and its wrappers. Returns whether it did. `members`
   * lists all processes of the session, daemons too.
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

  /** Kills the process and its shell at once, but not what the shell has started. */
  kill(): void {
    if (!this.alive) return
    const pid = this.shell?.hostPid
    if (pid !== undefined) ProcessTable.send(pid, "SIGKILL")
    this.child.kill("SIGKILL")
  }

  /** Tells the supervisor's guard to leave. Without this word, it takes the socket's end for this process's death. */
  private dismiss(): void {
    if (this.lifeline.writableEnded) return
    // Usually nobody listens any more, and the write fails. node captures that error's stack, which is slow in a
    // bundle: V8 looks for the ends of its lines.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    this.lifeline.end("quit\0")
    Error.stackTraceLimit = stackTraceLimit
  }

  /** Kills a shell whose supervisor is dead. Its state would mix with its successor's. */
  private killOrphan(shell: Shell): void {
    shell.alive = false
    if (!this.keeps || shell.innerPid === 0) return
    const known = shell.hostPid
    for (const { pid, session } of ProcessTable.list()) {
      // On a terminal, the shell leads its own process session.
      const isOurs = session === this.spawned || pid === known
      if (isOurs && ProcessTable.innerPid(pid) === shell.innerPid) ProcessTable.send(pid, "SIGKILL")
    }
  }

  /**
   * Takes a report of the supervisor. `K`: its pid, once it keeps shells. `E`: the exit code of an ended shell. `Q`:
   * its input has ended.
   */
  private hearReport(text: string): void {
    this.keeps = true
    const inner = Number(/K(\d+)\0/.exec(text)?.[1] ?? ProcessTable.innerPid(this.spawned))
    if (ProcessTable.innerPid(this.spawned) !== inner) this.wrapped = ProcessTable.find(this.spawned, inner)
    // If this process is in that namespace too, the pid is the same inside and outside.
    if (inner === 2 && this.wrapped !== undefined && this.wrapped !== inner) {
      this.init ??= ProcessTable.stat(this.wrapped)?.parent
    }
    if (text.includes("Q")) this.isAtEnd = true
    this.tellRunning()
    const code = /E(\d+)\0/.exec(text)?.[1]
    if (this.isAtEnd || (this.isEnding && code !== undefined)) this.dismiss()
    const ending = this.shell
    // If the input has ended, a shell that counts as alive was requested but never started.
    if (ending?.alive !== true || (code === undefined && !this.isAtEnd)) return
    ending.alive = false
    this.listenOut(ending, Number(code ?? 0), mostTurns)
  }

  /** Ends a dead shell once all its output is read, which lies in the socket already. */
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

/** Spawns a supervisor, whose first shell starts at once. Fails if the program can't be spawned. */
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
        // Attached at once, since an error without a listener ends this process.
        return { child, failed: new Promise<Error>((resolve) => child.on("error", resolve)) }
      },
      catch: noShellFrom
    })
    if (child.pid !== undefined) return new ShellSupervisor(child, directory, onExit)
    // If this process has run out of descriptors, the child has no streams either.
    const error = yield* Effect.promise(() => failed)
    return yield* noShell(`${program} could not be started: ${error.message}`)
  })

/** A restart, which may be requested while a shell starts. The shell's answer is not waited for then. */
export interface Restart {
  readonly isAsked: () => boolean
  /** Fails once a restart is requested. */
  readonly asked: Effect.Effect<never, ExecutionFailed>
}

interface LaunchOptions {
  readonly launcher: ShellLauncher
  /** The command line of the session's shells, from the settings. */
  readonly shell: Spawnable
  readonly directory: SessionDirectory
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  /** The directory that the first shell changes to. */
  readonly entered: string
  /** Lets the first shell read its first lines. Fails with what is wrong with it. */
  readonly greet: (shell: Shell) => Effect.Effect<void, string>
  /** Runs as soon as the supervisor or its wrapper needs nothing more to start. */
  readonly onBegun: Effect.Effect<unknown>
  /** Called once for each shell, when it has ended and its output is read. */
  readonly onExit: (gone: Shell) => void
  readonly restart: Restart
}

/** A launched supervisor, and its first shell, which has answered. */
export interface LaunchedShell {
  readonly shell: Shell
  readonly supervisor: ShellSupervisor
  /** Waits until the supervisor has ended and its launch's resources are released. */
  readonly over: Effect.Effect<void>
}

/** Matches another shell's complaint about `--norc`. */
const unknownOption = /^(?:\S+: )?(?:0: )?(?:Illegal option --|unknown option|bad option|no such option)|fish: --norc/im

/**
 * Launches a supervisor. A daemon fiber keeps the launch's scope open until the supervisor ends. Repeats a failed
 * trial launch once. Fails if no shell can start, with the shell's own message if there is one.
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
      // The launch completes its preparation while the program starts.
      supervisor.begin(yield* launch.ready)
      yield* options.onBegun
      const { first } = supervisor
      const answer = Effect.mapError(greet(first), (what) => {
        const { words } = first
        const { args, program } = launch.spawnable
        const name = [program, ...args.filter((word) => word !== directory.supervisor)].join(" ")
        // Synapse has added this option, so the shell is to blame, however it was started.
        if (unknownOption.test(words)) {
          return noShell(`${shell.program} is not bash, and no other shell will do: SYNAPSE_SHELL names it`)
        }
        return launch.explain(words) ?? noShell(`${name} ${what}${words === "" ? "" : `: ${words}`}`)
      })
      const answered = yield* Deferred.make<void>()
      // `prove` runs while the first shell starts. A wrapper may hold back the supervisor's report, so the shell's
      // answer counts too.
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
