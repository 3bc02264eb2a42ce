/** One running bash that speaks the protocol. */
import * as Effect from "effect/Effect"
import * as ProcessTable from "../ProcessTable.js"
import { FrameReader } from "./FrameReader.js"
import * as Nonce from "./Nonce.js"
import * as ProcessSignals from "./ProcessSignals.js"
import * as ProcessTree from "./ProcessTree.js"
import type { ShellKeeper } from "./ShellKeeper.js"

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

/** A shell in its keeper, and the frames on its standard output. */
export class Shell {
  readonly frames = new FrameReader()
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

  constructor(private readonly keeper: ShellKeeper) {
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
    if (this.alive) this.keeper.write(text)
  }

  /** The pid of the process that was spawned: the keeper, or what wraps it. */
  get spawned(): number {
    return this.keeper.spawned
  }

  /** The time, in clock ticks since boot, before which no shell of its keeper has run a command. */
  get keptSince(): number {
    return this.keeper.keptSince
  }

  /** The shell's own pid in this process's PID namespace; that of no process where the shell has ended unseen. */
  get pid(): number {
    return this.hostPid ?? (this.keeper.keeps ? nobody : this.keeper.spawned)
  }

  /** The same; undefined where it is not known yet. */
  get hostPid(): number | undefined {
    if (this.inner === 0) return undefined
    if (this.outer === undefined) {
      const { keeps, spawned } = this.keeper
      // Without a keeper, the spawned process may be the shell itself.
      this.outer = keeps ? ProcessTree.find(spawned, this.inner) : ProcessTable.resolve(spawned, this.inner)
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
    const pid = this.keeper.keeps ? this.hostPid : undefined
    if (pid === undefined) this.keeper.kill()
    else ProcessSignals.send(pid, "SIGKILL")
  }

  /** True where it ends or is about to, because its keeper was killed. */
  get isOrphan(): boolean {
    return !this.alive || this.keeper.isKilled
  }

  /** Lets its keeper go on where that was stopped; ends the shell where one is dead whose wrapper would hide that. */
  tendKeeper(): void {
    if (this.alive) this.keeper.tend()
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
      const nonce = Nonce.make()
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
