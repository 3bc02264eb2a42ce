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
import * as Either from "effect/Either"
import { FrameReader } from "./FrameReader.js"
import type { PromisedLaunch } from "./PersistentShell.js"
import * as ProcessTable from "./ProcessTable.js"
import * as Protocol from "./Protocol.js"
import type { SessionDirectory } from "./SessionDirectory.js"
import type { ShellBridge } from "./ShellBridge.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface StartOptions {
  readonly launch: PromisedLaunch
  readonly bridge: Context.Tag.Service<ShellBridge>
  readonly directory: SessionDirectory
  /** Where the process starts. */
  readonly spawnCwd: string
  /** Where the shell goes then, if it can. */
  readonly cwd: string | undefined
  /** Whether the directory holds a state to start with. */
  readonly restore: boolean
}

/**
 * Who hears what a shell does.
 *
 * @since 0.1.0
 * @category models
 */
export interface ShellListener {
  readonly onFrame: (body: string) => void
  /** `code` is an exit code as a shell would give it: 128 + the signal's number where one ended it. */
  readonly onExit: (code: number) => void
}

/** What a shell may say on its own standard error is kept to this: it serves as the reason when one cannot start. */
const maxComplaint = 4096

/** A shell that has not answered by then will not. */
const startTimeout = 60_000

/** After a shell's exit, what it said last may still be on its way. */
const lastWords = 50

const exitCode = (code: number | null, signal: NodeJS.Signals | null): number => {
  if (code !== null) return code
  return 128 + (signal === null ? 0 : Os.constants.signals[signal])
}

/**
 * @since 0.1.0
 * @category models
 */
export class Shell {
  /** The process that was spawned: a wrapper, or the shell itself. It leads a session of its own, without a terminal. */
  readonly spawned: number
  readonly frames = new FrameReader()
  alive = true
  /** Settled once the process is gone and its last words are heard. */
  readonly ended: Promise<void>
  listener: ShellListener | undefined
  private inner = 0
  /** What it said last on its own standard error: nothing of a command's. */
  complaint = ""

  private constructor(private readonly child: ChildProcess.ChildProcessWithoutNullStreams) {
    this.spawned = child.pid ?? 0
    // A shell that waits is no reason for the process to stay; a command that runs is one, and BashSession holds it.
    child.unref()
    for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Net.Socket) pipe.unref()
    // Writing to a shell that has just died is told by its exit.
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
        // Where this process was busy meanwhile, they are read in the turn of the event loop after the timer's.
        const silence = () => setImmediate(() => setImmediate(() => child.stdout.destroy()))
        const told = setTimeout(silence, lastWords)
        const gone = () => {
          clearTimeout(told)
          child.stderr.destroy()
          this.listener?.onExit(exitCode(code, signal))
          resolve()
        }
        if (child.stdout.closed) gone()
        else child.stdout.once("close", gone)
      })
    })
  }

  /** Starts a shell; throws with the reason, in the shell's own words if it had any, where none can be started. */
  static async start(options: StartOptions): Promise<Shell> {
    const { directory, launch, spawnCwd } = options
    const { spawnable } = launch
    if (!Fs.statSync(spawnCwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Error(`the working directory ${spawnCwd} does not exist`)
    }
    const child = ChildProcess.spawn(spawnable.program, spawnable.args, {
      cwd: spawnCwd,
      detached: true,
      env: launch.environment,
      stdio: ["pipe", "pipe", "pipe", ...launch.descriptors]
      // The types know this only of a list of three.
    }) as ChildProcess.ChildProcessWithoutNullStreams
    const name = [spawnable.program, ...spawnable.args].join(" ")
    if (child.pid === undefined) {
      // Where descriptors were wanting, there are no streams either.
      const [error] = await once(child, "error")
      throw new Error(`${spawnable.program} could not be started: ${error.message}`)
    }
    const shell = new Shell(child)
    return new Promise<Shell>((resolve, reject) => {
      const failed = (what: string) => {
        clearTimeout(patience)
        shell.listener = undefined
        shell.kill()
        const words = shell.complaint
          .replaceAll(/^bash: (cannot set terminal process group|no job control).*\n?/gm, "")
          .trim()
        reject(launch.explain(words) ?? new Error(`${name} ${what}${words === "" ? "" : `: ${words}`}`))
      }
      const patience = setTimeout(() => failed(`gave no sign of life in ${startTimeout} ms`), startTimeout)
      shell.listener = {
        onExit: (code) => failed(`ended at once with exit code ${code}`),
        onFrame: (body) => {
          const [pid, version] = body.split(" ")
          if (version === undefined || version === "") return failed("is not bash, and no other shell will do")
          clearTimeout(patience)
          shell.inner = Number(pid)
          void launch.started(shell.spawned).then((proven) => {
            if (Either.isRight(proven)) return resolve(shell)
            shell.listener = undefined
            shell.kill()
            reject(proven.left)
          })
        }
      }
      const nonce = Protocol.makeNonce()
      shell.frames.expect(nonce)
      shell.write(Protocol.startUp(directory, options.bridge, nonce, options.restore, options.cwd))
    })
  }

  write(text: string | Buffer): void {
    this.child.stdin.write(text)
  }

  /** The shell's own pid as this process knows it. */
  get pid(): number {
    return ProcessTable.resolve(this.spawned, this.inner)
  }

  /** The pid that the shell has for itself, as its messages name it. */
  get innerPid(): number {
    return this.inner
  }

  /** No more input: an idle shell runs its EXIT trap and ends. */
  end(): void {
    this.child.stdin.end()
  }

  /** Ends the shell at once, whatever it does; not what it started. */
  kill(): void {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      ProcessTable.signal(this.pid, "SIGKILL")
      this.child.kill("SIGKILL")
    }
  }
}
