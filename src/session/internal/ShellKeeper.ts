/**
 * The process that is launched for a session: it runs the session's shells, one after another (`keeper.bash`).
 *
 * What the shells leave in the background lives as long as this process, and so does the sandbox around it. A wrapper
 * that does not pass descriptor 3 on makes it a shell itself, and then it ends with that one.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Effect from "effect/Effect"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import * as ProcessFiles from "../ProcessFiles.js"
import * as ProcessTable from "../ProcessTable.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { Launch } from "../ShellLauncher.js"
import * as Nonce from "./Nonce.js"
import * as NoShell from "./NoShell.js"
import * as ProcessSignals from "./ProcessSignals.js"
import * as ProcessTree from "./ProcessTree.js"
import * as ProtocolInput from "./ProtocolInput.js"
import { Shell } from "./Shell.js"

/** The options of `spawn`. */
export interface SpawnOptions {
  readonly launch: Launch
  /** The session's private directory, which goes when this program dies; it holds the keeper's script. */
  readonly directory: SessionDirectory
  /** The directory that the process starts in. */
  readonly cwd: string
  /** Called once for each shell, when it has ended and its output is read. */
  readonly onExit: (shell: Shell) => void
}

/** Milliseconds after the exit of the process in which its last output may still arrive. */
const lastWords = 50

/** The most turns of the event loop in which a dead shell's last output is read. */
const mostTurns = 100

/** The first word to the keeper, which tells it that descriptor 3 is ours. */
const greeting = "synapse-keeper"

const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : Os.constants.signals[signal])
}

/** A keeper that was spawned, and the shell that runs in it. */
export class ShellKeeper {
  /** The pid of the spawned process: a wrapper, or the keeper itself. It leads a session of its own, without a terminal. */
  readonly spawned: number
  /** The file that the keeper runs, by which it is told from the session's own processes. */
  readonly script: string
  /** False once the process has ended. */
  alive = true
  /** Resolves once the process has ended and all its output is read. */
  readonly over: Promise<void>
  /** Resolves once the keeper reports that it runs, and what wraps it has done its work; never where nothing keeps shells. */
  readonly running: Promise<void>
  private tellRunning: () => void = () => {}
  /** The time, in clock ticks since boot, before which no shell of its has run a command. */
  keptSince = Number.POSITIVE_INFINITY
  /** True where shells can follow one another in the process. */
  keeps = false
  /** True once the input has ended, perhaps by the doing of a wrapper: no further shell can start. */
  private isAtEnd = false
  /** The shell that the process starts with. */
  readonly first: Shell
  private shell: Shell | undefined
  private isEnding = false
  /** The keeper's own pid, where another process was spawned, which wraps it. */
  private wrapped: number | undefined
  /** The line that separates what a dead shell has not read from the lines for the next shell. */
  private readonly token = Nonce.make()
  private readonly lifeline: Net.Socket

  constructor(
    private readonly child: ChildProcess.ChildProcessWithoutNullStreams,
    private readonly directory: SessionDirectory,
    private readonly onShellExit: (shell: Shell) => void
  ) {
    this.spawned = child.pid ?? 0
    // A shell that waits must not keep the process alive; while a command runs, TurnQueue does.
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
    this.script = directory.keeper
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

  /** Lets the keeper start its first shell, after the words for what wraps it. */
  begin(words: string): void {
    this.lifeline.write(`${words}${greeting}\0${this.token}\0${this.directory.path}\0`)
  }

  /** True where the next shell can start, once the last one has ended. */
  get canGoOn(): boolean {
    return this.alive && this.keeps && !this.isAtEnd
  }

  /** The keeper's own pid in this process's PID namespace; that of what was spawned where nothing keeps shells. */
  get pid(): number {
    return this.wrapped ?? this.spawned
  }

  /** Starts the next shell; only where the last one has ended, and only where `canGoOn`. */
  next(): Shell {
    const shell = new Shell(this)
    this.shell = shell
    ProtocolInput.reserve(this.pid, this.keptSince)
    this.child.stdin.write(`\n${this.token}\n`)
    return shell
  }

  write(text: string | Buffer): void {
    this.child.stdin.write(text)
  }

  /** True where the keeper was killed, and the shell can't outlive it. */
  get isKilled(): boolean {
    return this.keeps && ProcessFiles.isKilled(this.pid)
  }

  /**
   * Lets a keeper go on that a command has stopped (SIGSTOP), and kills what wraps one that is dead, and the shell with it:
   * nobody else would report that one's end.
   */
  tend(): void {
    this.goOn()
    if (this.wrapped !== undefined && !ProcessTable.isThere(this.wrapped)) this.kill()
  }

  private goOn(): void {
    ProcessSignals.send(this.pid, "SIGCONT")
  }

  /** Names a further directory that goes when this program dies. */
  alsoRemove(directory: string): void {
    if (this.alive) this.lifeline.write(`${directory}\0`)
  }

  /** Closes the input: an idle shell then runs its EXIT trap and ends, and the process ends with it. */
  end(): void {
    this.isEnding = true
    if (this.alive) this.goOn()
    this.child.stdin.end()
    if (this.shell?.alive !== true) this.dismiss()
  }

  /** Kills the process at once, with its shell, but not what that has started. */
  kill(): void {
    if (!this.alive) return
    const pid = this.shell?.hostPid
    if (pid !== undefined) ProcessSignals.send(pid, "SIGKILL")
    this.child.kill("SIGKILL")
  }

  /** Without this word, the keeper's guard takes the end of the socket for the death of this program. */
  private dismiss(): void {
    if (!this.lifeline.writableEnded) this.lifeline.end("quit\0")
  }

  /** Kills a shell whose keeper is dead: its state would mix with that of its successor. */
  private killOrphan(shell: Shell): void {
    shell.alive = false
    if (!this.keeps || shell.innerPid === 0) return
    for (const { pid, session } of ProcessTable.list()) {
      if (session === this.spawned && ProcessTree.innerPid(pid) === shell.innerPid) ProcessSignals.send(pid, "SIGKILL")
    }
  }

  /**
   * Takes what the keeper says: `K` with its pid once it keeps shells, `E` with the exit code of each that has ended, and `Q` once its
   * input has ended.
   */
  private hearReport(text: string): void {
    if (!this.keeps) this.keptSince = ProcessTable.ticksAt(performance.now()) + ProcessTable.early
    this.keeps = true
    const inner = Number(/K(\d+)\0/.exec(text)?.[1] ?? ProcessTree.innerPid(this.spawned))
    if (ProcessTree.innerPid(this.spawned) !== inner) this.wrapped = ProcessTree.find(this.spawned, inner)
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

/** Spawns a keeper, whose first shell starts at once. Fails where the program can't be spawned. */
export const spawn = ({ cwd, directory, launch, onExit }: SpawnOptions): Effect.Effect<ShellKeeper, ExecutionFailed> =>
  Effect.gen(function* () {
    const { args, program } = launch.spawnable
    const { child, failed } = yield* Effect.try({
      try: () => {
        if (!Fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
          throw new Error(`the working directory ${cwd} does not exist`)
        }
        const child = ChildProcess.spawn(program, args, {
          cwd,
          detached: true,
          env: launch.environment,
          stdio: ["pipe", "pipe", "pipe", "pipe", ...launch.descriptors]
          // The types know this only for a list of three.
        }) as ChildProcess.ChildProcessWithoutNullStreams
        // At once, for an error that nobody hears ends the program.
        return { child, failed: new Promise<Error>((resolve) => child.on("error", resolve)) }
      },
      catch: NoShell.fromUnknown
    })
    if (child.pid !== undefined) return new ShellKeeper(child, directory, onExit)
    // Where this process has run out of descriptors, the child has no streams either.
    const error = yield* Effect.promise(() => failed)
    return yield* NoShell.make(`${program} could not be started: ${error.message}`)
  })
