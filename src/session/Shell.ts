/**
 * One running bash process that speaks the protocol.
 *
 * @since 0.1.0
 */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExecutionFailed } from "../domain/CommandError.js"
import { FrameReader } from "./FrameReader.js"
import * as NoShell from "./NoShell.js"
import * as ProcessTable from "./ProcessTable.js"
import * as Protocol from "./Protocol.js"
import type { SessionDirectory } from "./SessionDirectory.js"
import type { ShellBridge } from "./ShellBridge.js"
import type { Launch } from "./ShellLauncher.js"

/**
 * The options of `start`.
 *
 * @since 0.1.0
 * @category models
 */
export interface StartOptions {
  readonly launch: Launch
  readonly directory: SessionDirectory
  readonly bridge: Context.Tag.Service<ShellBridge>
  /** The directory that the process starts in. */
  readonly spawnCwd: string
  /** The directory that the shell then changes to, if it can. */
  readonly cwd: string | undefined
  /** True where the directory holds a state to start with. */
  readonly restore: boolean
  /** Called once, when the process has ended and its output is read. */
  readonly onExit: (shell: Shell) => void
}

/**
 * The callbacks for a shell's frames and its end.
 *
 * @since 0.1.0
 * @category models
 */
export interface ShellListener {
  readonly onFrame: (body: string) => void
  /** Called with the exit code as a shell reports it: 128 plus the signal's number where a signal ended it. */
  readonly onExit: (code: number) => void
}

/** The most characters of the shell's own standard error that are kept; it explains why a shell could not start. */
const maxComplaint = 4096

/** Milliseconds that a shell has to answer after its start. */
const startTimeout = 60_000

/** Milliseconds after the shell's exit in which its last output may still arrive. */
const lastWords = 50

const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : Os.constants.signals[signal])
}

/**
 * A shell's process, and the frames on its standard output.
 *
 * @since 0.1.0
 * @category models
 */
export class Shell {
  /**
   * The pid of the spawned process: a wrapper, or the shell itself. It leads a session of its own, without a terminal.
   */
  readonly spawned: number
  readonly frames = new FrameReader()
  alive = true
  /** Resolves once the process has ended and its output is read. */
  readonly ended: Promise<void>
  /** The end of the shell's own standard error, which holds nothing of a command's. */
  complaint = ""
  private listener: ShellListener | undefined
  private inner = 0

  constructor(
    private readonly child: ChildProcess.ChildProcessWithoutNullStreams,
    onExit: (shell: Shell) => void
  ) {
    this.spawned = child.pid ?? 0
    // A shell that waits must not keep the process alive; while a command runs, TurnQueue does.
    child.unref()
    for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Net.Socket) pipe.unref()
    // A write to a shell that has just died fails; its exit reports that.
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => {
      for (const body of this.frames.read(chunk)) this.listener?.onFrame(body)
    })
    child.stderr.on("data", (chunk: Buffer) => {
      this.complaint = (this.complaint + chunk.toString()).slice(-maxComplaint)
    })
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.alive = false
        // If this process was busy meanwhile, the last output is read in the event loop's turn after the timer's.
        const silence = () => setImmediate(() => setImmediate(() => child.stdout.destroy()))
        const told = setTimeout(silence, lastWords)
        const gone = () => {
          clearTimeout(told)
          child.stderr.destroy()
          onExit(this)
          this.listener?.onExit(exitCode(code, signal))
          resolve()
        }
        if (child.stdout.closed) gone()
        else child.stdout.once("close", gone)
      })
    })
  }

  /** Passes the frames of this nonce, and the shell's end, to the listener from now on. */
  hear(nonce: string, listener: ShellListener): void {
    this.frames.expect(nonce)
    this.listener = listener
  }

  write(text: string | Buffer): void {
    this.child.stdin.write(text)
  }

  /** The shell's own pid in this process's PID namespace. */
  get pid(): number {
    return ProcessTable.resolve(this.spawned, this.inner)
  }

  /** The pid that the shell has for itself, as in its messages. */
  get innerPid(): number {
    return this.inner
  }

  /** Closes the shell's input: an idle shell then runs its EXIT trap and ends. */
  end(): void {
    this.child.stdin.end()
  }

  /** Kills the shell at once, but not what it started. */
  kill(): void {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      ProcessTable.signal(this.pid, "SIGKILL")
      this.child.kill("SIGKILL")
    }
  }

  /** Lets the shell read its first lines, and waits for its answer; fails with what is wrong with it. */
  greet(text: (nonce: string) => string): Effect.Effect<void, string> {
    return Effect.async((resume) => {
      const nonce = Protocol.makeNonce()
      this.hear(nonce, {
        onExit: (code) => resume(Effect.fail(`ended at once with exit code ${code}`)),
        onFrame: (body) => {
          const [pid, version] = body.split(" ")
          if (version === undefined || version === "") {
            return resume(Effect.fail("is not bash, and no other shell will do"))
          }
          this.inner = Number(pid)
          resume(Effect.void)
        }
      })
      this.write(text(nonce))
    })
  }
}

const spawn = ({ launch, onExit, spawnCwd }: StartOptions): Effect.Effect<Shell, ExecutionFailed> =>
  Effect.gen(function* () {
    const { args, program } = launch.spawnable
    const child = yield* Effect.try({
      try: () => {
        if (!Fs.statSync(spawnCwd, { throwIfNoEntry: false })?.isDirectory()) {
          throw new Error(`the working directory ${spawnCwd} does not exist`)
        }
        return ChildProcess.spawn(program, args, {
          cwd: spawnCwd,
          detached: true,
          env: launch.environment,
          stdio: ["pipe", "pipe", "pipe", ...launch.descriptors]
          // The types know this only for a list of three.
        }) as ChildProcess.ChildProcessWithoutNullStreams
      },
      catch: NoShell.fromUnknown
    })
    if (child.pid !== undefined) return new Shell(child, onExit)
    // Where this process has run out of descriptors, the child has no streams either.
    const [error] = yield* Effect.promise(() => once(child, "error"))
    return yield* NoShell.make(`${program} could not be started: ${error.message}`)
  })

/**
 * Returns the shell's standard error without bash's messages about having no terminal, which do not tell why it ended.
 */
const wordsOf = (shell: Shell) =>
  shell.complaint.replaceAll(/^bash: (cannot set terminal process group|no job control).*\n?/gm, "").trim()

/**
 * Starts a shell. Fails where it can't be started, with the shell's own message if there is one. The shell is killed
 * when the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const start = (options: StartOptions): Effect.Effect<Shell, ExecutionFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { bridge, cwd, directory, launch, restore } = options
    const shell = yield* Effect.acquireRelease(spawn(options), (shell) => Effect.sync(() => shell.kill()))
    yield* shell
      .greet((nonce) => Protocol.startUp(directory, bridge, nonce, restore, cwd))
      .pipe(
        Effect.timeoutFail({
          duration: startTimeout,
          onTimeout: () => `gave no sign of life in ${startTimeout} ms`
        }),
        Effect.mapError((what) => {
          const words = wordsOf(shell)
          const name = [launch.spawnable.program, ...launch.spawnable.args].join(" ")
          return launch.explain(words) ?? NoShell.make(`${name} ${what}${words === "" ? "" : `: ${words}`}`)
        })
      )
    yield* launch.started(shell.spawned)
    return shell
  })
