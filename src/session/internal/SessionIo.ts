/**
 * The pipes for the output of commands: a pair for the one that runs, and pairs that jobs still hold.
 */

import * as Fs from "node:fs"
import * as Timers from "node:timers/promises"
import type * as Context from "effect/Context"
import * as Attempt from "../../domain/Attempt.js"
import type { Read } from "../../domain/CommandInput.js"
import type { StreamName } from "../../domain/KeptOutput.js"
import type { PipePaths } from "../Fifo.js"
import * as Fifo from "../Fifo.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import type { CallerFacts, OpenBridge, ShellBridge } from "../ShellBridge.js"
import { OutputPipe } from "./OutputPipe.js"
import { CommandStdin } from "./Protocol.js"
import * as ShellState from "./ShellState.js"

/** The most bytes of a state; a longer one is lost, and the result says so. */
const maxState = 64 * 1024 ** 2

/** The most characters of names not found that are kept; only the last name counts. */
const maxMissing = 4096

/** All pipes of a session, in its directory. */
export class SessionIo {
  readonly calls: OpenBridge
  /** Set where a command was found to have deleted some of it. */
  broken = false
  private readonly statePipe: OutputPipe
  private readonly notFoundPipe: OutputPipe
  private state: Array<Buffer> = []
  private stateLength = 0
  private stateEnd = ""
  private missing = ""

  private constructor(
    readonly directory: SessionDirectory,
    readonly pool: PipePool,
    bridge: Context.Tag.Service<ShellBridge>,
    around: () => CallerFacts
  ) {
    this.calls = bridge.open(directory, around)
    this.statePipe = new OutputPipe(directory.state)
    this.notFoundPipe = new OutputPipe(directory.notFound)
  }

  /** Makes the pipes; `around` tells calls of the command that runs. On failure, the directory is removed. */
  static async lay(
    directory: SessionDirectory,
    bridge: Context.Tag.Service<ShellBridge>,
    around: () => CallerFacts
  ): Promise<SessionIo> {
    try {
      const pool = new PipePool(directory.path)
      await pool.make(1, [directory.state, directory.notFound, ...bridge.fifos(directory.path)])
      return new SessionIo(directory, pool, bridge, around)
    } catch (error) {
      directory.remove(false)
      throw error
    }
  }

  /** True where it can't be used any more. */
  get isLost(): boolean {
    return this.broken || this.calls.isLost || this.directory.isDeleted
  }

  /** Reads the pipes as they fill, while a command runs long: a shell that ends may write much. */
  attach(): void {
    this.statePipe.attach(this.intoState)
    this.notFoundPipe.attach(this.intoMissing)
  }

  /** Returns the last command that bash did not find during the command that has ended, if any. */
  takeMissing(): string | undefined {
    this.statePipe.detach()
    this.notFoundPipe.drain(this.intoMissing)
    const name = this.missing.split("\0").at(-2)
    this.missing = ""
    return name
  }

  /** True once the shell has written all of its state: what is left of it is the user's EXIT trap. */
  get isStateWritten(): boolean {
    this.statePipe.peek(this.intoState)
    return this.stateEnd === ShellState.lastBytes
  }

  /** Returns the state that the shell has written at its end, byte for byte as Latin-1. */
  takeState(): string {
    this.statePipe.drain(this.intoState)
    this.stateLength = 0
    this.stateEnd = ""
    return Buffer.concat(this.state.splice(0)).toString("latin1")
  }

  close(keepOutputFiles: boolean): void {
    this.calls.close()
    this.pool.close()
    this.statePipe.close()
    this.notFoundPipe.close()
    this.directory.terminal?.close()
    this.directory.remove(keepOutputFiles)
  }

  private readonly intoState = (chunk: Buffer) => {
    this.stateLength += chunk.length
    const { length } = ShellState.lastBytes
    this.stateEnd = (this.stateEnd + chunk.toString("latin1", Math.max(0, chunk.length - length))).slice(-length)
    if (this.stateLength <= maxState) this.state.push(Buffer.from(chunk))
    else this.state = []
  }

  private readonly intoMissing = (chunk: Buffer) => {
    this.missing = (this.missing + chunk.toString()).slice(-maxMissing)
  }
}

/** The FIFOs for the standard output and the standard error of one command, and one for its input. */
export class PipePair {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe
  private readonly watchers: Array<Fs.FSWatcher> = []
  private onWrite: ((stream: StreamName) => void) | undefined
  private hadInput = false

  /** Throws the file system's error. */
  constructor(readonly paths: Required<PipePaths>) {
    this.stdout = new OutputPipe(paths.stdout)
    try {
      this.stderr = new OutputPipe(paths.stderr)
    } catch (error) {
      this.stdout.close()
      throw error
    }
  }

  /** True where a command has deleted one of them. */
  get isLost(): boolean {
    return this.stdout.lost || this.stderr.lost
  }

  /** Opens the input of a command; undefined where it has none, or a command has deleted the FIFO. */
  openInput(read: Read | undefined): CommandStdin | undefined {
    const input = CommandStdin.open(this.paths.stdin, read)
    this.hadInput ||= input !== undefined
    return input
  }

  /** True where the `cat` of a command before may still read the input: it would take that of the next one. */
  get isInputHeld(): boolean {
    this.hadInput &&= Fifo.isRead(this.paths.stdin)
    return this.hadInput
  }

  /** Removes the FIFO of the input, and returns the path for another one. */
  removeInput(): string {
    this.hadInput = false
    Fs.rmSync(this.paths.stdin, { force: true })
    return this.paths.stdin
  }

  /** Makes it fit for a command after `PipePool.lend`; returns false where a command has deleted one of them. */
  reopen(): boolean {
    return this.stdout.reopen() && this.stderr.reopen()
  }

  close(): void {
    this.endWatch()
    this.stdout.close()
    this.stderr.close()
  }

  /**
   * Calls back when one of them was written to, in the order of the writes, until `ignoreWrites`. Returns false where
   * that can't be told. The watch stays for the next command: to keep it is cheaper than a new one.
   */
  hearWrites(onWrite: (stream: StreamName) => void): boolean {
    if (process.platform !== "linux") return false
    this.onWrite = onWrite
    if (this.watchers.length > 0) return true
    try {
      for (const stream of ["stdout", "stderr"] as const) {
        const watcher = Fs.watch(this[stream].again, { persistent: false }, () => this.onWrite?.(stream))
        this.watchers.push(watcher.on("error", () => {}))
      }
      return true
    } catch {
      // Such as that the user has no watch left.
      this.endWatch()
      return false
    }
  }

  ignoreWrites(): void {
    this.onWrite = undefined
  }

  /** Ends the watch, because what is written is not a command's any more, or too much. */
  endWatch(): void {
    this.onWrite = undefined
    for (const watcher of this.watchers.splice(0)) watcher.close()
  }

  /** Tests whether a shell's message says that it could not open one of them. */
  refusedBy(complaint: string): boolean {
    return complaint.includes(`bash: ${this.paths.stdout}: `) || complaint.includes(`bash: ${this.paths.stderr}: `)
  }
}

/** Milliseconds between two reads of a pipe that a job writes to, one chunk each, so that a flood of output takes little time. */
const jobEvery = 1

/** The number of pairs that are made at once, but for the first: most sessions need one. */
const batch = 4

/** Hands out pairs of FIFOs that no other process writes to, and takes them back. */
export class PipePool {
  private readonly all = new Set<PipePair>()
  private free: Array<PipePair> = []
  /** The pairs whose input is held by a command before. */
  private readonly held: Array<PipePair> = []
  /** The pairs that were not opened yet. */
  private readonly unopened: Array<Required<PipePaths>> = []
  /** The number of pairs that were made. */
  private made = 0

  constructor(private readonly directory: string) {}

  /** Takes a pair that no other process writes to; undefined where none is left, or none could be opened. */
  take(): PipePair | undefined {
    return Attempt.orUndefined(() => this.next())
  }

  /** Makes more pairs where none is left; rejects with the error of mkfifo or of the file system. */
  async fill(): Promise<void> {
    const ready = this.next()
    if (ready !== undefined) return this.give(ready)
    const held = this.held.splice(0)
    if (held.length === 0) await this.make(batch)
    else await Fifo.makeFifos(held.map((pair) => pair.removeInput()))
    this.free.push(...held)
    const made = this.next()
    if (made !== undefined) this.give(made)
  }

  /** Makes pairs, and the other FIFOs named; rejects with mkfifo's error. */
  async make(count: number, others: ReadonlyArray<string> = []): Promise<void> {
    const pairs = Array.from({ length: count }, () => {
      const name = `${this.directory}/${this.made++}`
      return { stdin: `${name}i`, stdout: `${name}o`, stderr: `${name}e` }
    })
    await Fifo.makeFifos([...others, ...pairs.flatMap((pair) => Object.values(pair))])
    this.unopened.push(...pairs)
  }

  private next(): PipePair | undefined {
    for (const pair of this.held.splice(0)) this.give(pair)
    for (let pair = this.free.at(-1); pair !== undefined; pair = this.free.at(-1)) {
      const isOpen = pair.reopen()
      this.free.pop()
      if (isOpen) return pair
      this.drop(pair)
    }
    const paths = this.unopened.at(-1)
    if (paths === undefined) return undefined
    try {
      const pair = new PipePair(paths)
      this.all.add(pair)
      this.unopened.pop()
      return pair
    } catch (error) {
      // Where a command has deleted it, it is of no use any more.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") this.unopened.pop()
      throw error
    }
  }

  give(pair: PipePair): void {
    if (pair.isInputHeld) this.held.push(pair)
    else this.free.push(pair)
  }

  private drop(pair: PipePair): void {
    this.all.delete(pair)
    pair.close()
  }

  /**
   * Takes back a pair that other processes still write to, and reads it until they have closed it: `take` gets what they
   * write, and `ended` is called then.
   */
  lend(pair: PipePair, take: (stream: StreamName, chunk: Buffer) => void, ended: () => void): void {
    pair.endWatch()
    let open = 2
    for (const stream of ["stdout", "stderr"] as const) {
      pair[stream].untilEnd(
        (chunk) => {
          take(stream, chunk)
          return Timers.setTimeout(jobEvery, undefined, { ref: false })
        },
        () => {
          if (--open > 0) return
          if (this.all.has(pair)) this.give(pair)
          ended()
        }
      )
    }
  }

  close(): void {
    for (const pair of this.all) pair.close()
    this.all.clear()
    this.free = []
  }
}
