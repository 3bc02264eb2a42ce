/** The pairs of FIFOs that commands print to, made a few at a time. */
import * as Path from "node:path"
import * as Mkfifo from "../Mkfifo.js"

/** The paths of a command's standard streams. */
export interface PipePaths {
  /** The standard input; where undefined, it is empty. */
  readonly stdin?: string
  readonly stdout: string
  readonly stderr: string
}

/** The number of pairs that one call of mkfifo makes. */
const batch = 4

/** The pairs of FIFOs in a directory that nobody uses yet. */
export class FifoPairs {
  private free: Array<PipePaths> = []
  /** The number of pairs that were made. */
  private made = 0

  constructor(private readonly directory: string) {}

  /** Takes a pair; undefined where there is none. */
  take(): PipePaths | undefined {
    return this.free.pop()
  }

  /** Takes back a pair that could not be opened. */
  give(paths: PipePaths): void {
    this.free.push(paths)
  }

  get isEmpty(): boolean {
    return this.free.length === 0
  }

  /** Makes more pairs, and the other FIFOs named; rejects with mkfifo's error. */
  async add(others: ReadonlyArray<string> = []): Promise<void> {
    const pairs = Array.from({ length: batch }, () => {
      const name = Path.join(this.directory, String(this.made++))
      return { stdout: `${name}o`, stderr: `${name}e` }
    })
    await Mkfifo.make([...others, ...pairs.flatMap((pair) => [pair.stdout, pair.stderr])])
    this.free.push(...pairs)
  }
}
