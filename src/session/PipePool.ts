/**
 * The pipes for the output of commands: a pair for the one that runs, and pairs that background processes still hold.
 *
 * @since 0.1.0
 */
import { OutputPipe } from "./OutputPipe.js"
import type { PipePaths, SessionDirectory } from "./SessionDirectory.js"

/**
 * The FIFOs for the standard output and the standard error of one command.
 *
 * @since 0.1.0
 * @category models
 */
export class PipePair {
  readonly stdout: OutputPipe
  readonly stderr: OutputPipe

  constructor(readonly paths: PipePaths) {
    this.stdout = new OutputPipe(paths.stdout)
    this.stderr = new OutputPipe(paths.stderr)
  }

  /** True where a command has deleted one of them. */
  get lost(): boolean {
    return this.stdout.lost || this.stderr.lost
  }

  /** Tests whether a shell's message says that it could not open one of them. */
  refusedBy(complaint: string): boolean {
    return complaint.includes(`bash: ${this.paths.stdout}: `) || complaint.includes(`bash: ${this.paths.stderr}: `)
  }
}

/**
 * Milliseconds between two reads of a pipe whose output is dropped: one chunk each, so that a flood of output takes
 * little time.
 */
const lateEvery = 5

const dropSlowly = () => new Promise<void>((resolve) => setTimeout(resolve, lateEvery).unref())

/**
 * Hands out pairs of FIFOs that no other process writes to, and takes them back.
 *
 * @since 0.1.0
 * @category models
 */
export class PipePool {
  private readonly all = new Set<PipePair>()
  private free: Array<PipePair> = []

  constructor(private readonly directory: SessionDirectory) {}

  /** Takes a pair that no other process writes to; undefined where none is left. */
  take(): PipePair | undefined {
    const pair = this.free.pop()
    if (pair !== undefined) return pair
    const paths = this.directory.takePair()
    return paths === undefined ? undefined : this.open(paths)
  }

  /** Makes more pairs where none is left; rejects with mkfifo's error. */
  async fill(): Promise<void> {
    if (this.free.length === 0 && !this.directory.hasPair) await this.directory.addPairs()
  }

  give(pair: PipePair): void {
    this.free.push(pair)
  }

  /**
   * Takes back a pair that a background process still writes to: its output is dropped, so that the process does not
   * block.
   */
  giveWhenQuiet(pair: PipePair): void {
    let open = 2
    const ended = () => {
      open--
      if (open === 0 && this.all.has(pair)) this.give(pair)
    }
    pair.stdout.untilEnd(dropSlowly, ended)
    pair.stderr.untilEnd(dropSlowly, ended)
  }

  /** True where no process writes to any pair. */
  get idle(): boolean {
    return this.free.length === this.all.size
  }

  close(): void {
    for (const pair of this.all) {
      pair.stdout.close()
      pair.stderr.close()
    }
    this.all.clear()
    this.free = []
  }

  private open(paths: PipePaths): PipePair {
    const pair = new PipePair(paths)
    this.all.add(pair)
    return pair
  }
}
