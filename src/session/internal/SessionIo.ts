/** The pipes for the output of commands: one pair for the running command, and pairs that jobs still hold. */

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

/** The most bytes of a shell's state. A longer state is lost, and the result says so. */
const maxState = 64 * 1024 ** 2

/** The most characters kept of the names not found. Only the last name counts. */
const maxMissing = 4096

export class SessionIo {
  readonly calls: OpenBridge
  /** True once a command was found to have deleted some of the files. */
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

  /** Creates the pipes. `around` describes the running command to calls. On failure, the directory is removed. */
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

  /** True if the pipes can't be used any more. */
  get isLost(): boolean {
    return this.broken || this.calls.isLost || this.directory.isDeleted
  }

  /** Reads the pipes as they fill, for a long command: an ending shell may write much. */
  attach(): void {
    this.statePipe.attach(this.intoState)
    this.notFoundPipe.attach(this.intoMissing)
  }

  /**
   * Returns the last command name that bash did not find during the ended command, and the exit codes that its pipeline
   * has told in the background (`|id 0 1`).
   */
  takeTold(id: string): { readonly missing: string | undefined; readonly codes: ReadonlyArray<number> } {
    this.statePipe.detach()
    this.notFoundPipe.drain(this.intoMissing)
    const told = this.missing.split("\0").slice(0, -1)
    this.missing = ""
    const [, codes = ""] = told.find((each) => each.startsWith(`|${id} `))?.split(/ (.*)/s) ?? []
    return {
      missing: told.findLast((each) => !/^\|\d+ /.test(each)),
      codes: /^\d{1,3}(?: \d{1,3})+$/.test(codes) ? codes.split(" ").map(Number) : []
    }
  }

  /** True once the shell has written all of its state. Only the user's EXIT trap can run after that. */
  get isStateWritten(): boolean {
    this.statePipe.peek(this.intoState)
    return this.stateEnd === ShellState.lastBytes
  }

  /** Returns the state that the shell has written at its end, as Latin-1. */
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

/** The FIFOs for one command's standard input, output and error. */
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

  /** True if a command has deleted one of them. */
  get isLost(): boolean {
    return this.stdout.lost || this.stderr.lost
  }

  /** Opens a command's input. Returns undefined without an input, or if a command has deleted the FIFO. */
  openInput(read: Read | undefined): CommandStdin | undefined {
    const input = CommandStdin.open(this.paths.stdin, read)
    this.hadInput ||= input !== undefined
    return input
  }

  /** True if the `cat` of an earlier command may still read the input FIFO. It would take the next command's input. */
  get isInputHeld(): boolean {
    this.hadInput &&= Fifo.isRead(this.paths.stdin)
    return this.hadInput
  }

  /** Removes the input FIFO, and returns the path for a new one. */
  removeInput(): string {
    this.hadInput = false
    Attempt.ignore(() => Fs.unlinkSync(this.paths.stdin))
    return this.paths.stdin
  }

  /** Makes the pair usable again after `PipePool.lend`. Returns false if a command has deleted one of them. */
  reopen(): boolean {
    return this.stdout.reopen() && this.stderr.reopen()
  }

  close(): void {
    this.endWatch()
    this.stdout.close()
    this.stderr.close()
  }

  /**
   * Calls `onWrite` for each write to one of them, in order, until `ignoreWrites`. Returns false if the system can't
   * tell. The watch is kept for the next command, since a new one is slower.
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
      // For example because the user has no inotify watch left.
      this.endWatch()
      return false
    }
  }

  ignoreWrites(): void {
    this.onWrite = undefined
  }

  /** Ends the watch: the writes are no longer the command's, or too many. */
  endWatch(): void {
    this.onWrite = undefined
    for (const watcher of this.watchers.splice(0)) watcher.close()
  }

  /** Tests whether a shell's message says that it could not open one of them. */
  refusedBy(complaint: string): boolean {
    return complaint.includes(`bash: ${this.paths.stdout}: `) || complaint.includes(`bash: ${this.paths.stderr}: `)
  }
}

/** Milliseconds between two reads of a job's pipe, one chunk each, so that a flood of output takes little CPU time. */
const jobEvery = 1

/** How many pairs are made at once after the first. Most sessions need only one. */
const batch = 4

/** Lends pairs of FIFOs that no other process writes to. */
export class PipePool {
  private readonly all = new Set<PipePair>()
  private free: Array<PipePair> = []
  /** Pairs whose input FIFO an earlier command still holds. */
  private readonly held: Array<PipePair> = []
  /** Pairs that are created but not opened yet. */
  private readonly unopened: Array<Required<PipePaths>> = []
  private made = 0

  constructor(private readonly directory: string) {}

  /** Takes a pair that no other process writes to. Returns undefined if none is left or can be opened. */
  take(): PipePair | undefined {
    return Attempt.orUndefined(() => this.next())
  }

  /** Creates pairs if none is left. Rejects with the error of mkfifo or the file system. */
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

  /** Creates pairs and the other named FIFOs. Rejects with mkfifo's error. */
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
      // A pair that a command has deleted is of no further use.
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
   * Takes back a pair that other processes still write to, and reads it until they have closed it. `take` gets what
   * they write; `ended` is called at the end.
   */
  lend(
    pair: PipePair,
    take: (stream: StreamName, chunk: Buffer) => void = () => {},
    ended: () => void = () => {}
  ): void {
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
