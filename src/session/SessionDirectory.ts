/**
 * The private directory of a session: the command's text, the FIFOs of its output, and the files of outputs that were cut.
 *
 * @since 0.1.0
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

/** FIFO pairs that one call of mkfifo makes. */
const batch = 4

/**
 * @since 0.1.0
 * @category models
 */
export interface PipePaths {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Where a shell finds what it needs, by the names it uses itself.
 *
 * @since 0.1.0
 * @category models
 */
export class SessionDirectory {
  readonly path: string
  /** The text of the command that runs. */
  readonly command: string
  /** Where an ending shell says its state. */
  readonly state: string
  /** What the next shell starts with. */
  readonly restore: string
  /** Where the shell says which command it did not find. */
  readonly notFound: string
  private readonly commandFd: number
  private commandLength = 0
  private free: Array<PipePaths> = []
  private pairs = 0
  private outputs = 0

  /** Throws what the file system says where it can't be made. Its FIFOs are there once `addPairs` has made them. */
  constructor() {
    this.path = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-"))
    this.command = Path.join(this.path, "command")
    this.state = Path.join(this.path, "state")
    this.restore = Path.join(this.path, "restore")
    this.notFound = Path.join(this.path, "not-found")
    this.commandFd = Fs.openSync(this.command, "wx", 0o600)
  }

  /** The text that the shell sources next: rewritten in place, since truncating first costs ten times as much. */
  writeCommand(text: string): void {
    const bytes = Buffer.from(text.endsWith("\n") ? text : `${text}\n`)
    for (let done = 0; done < bytes.length; ) {
      done += Fs.writeSync(this.commandFd, bytes, done, bytes.length - done, done)
    }
    if (bytes.length < this.commandLength) Fs.ftruncateSync(this.commandFd, bytes.length)
    this.commandLength = bytes.length
  }

  /** A pair of FIFOs that nobody uses. */
  takePair(): PipePaths | undefined {
    return this.free.pop()
  }

  /** Makes more pairs, and whatever other FIFOs are named; rejects with what mkfifo says. */
  async addPairs(others: ReadonlyArray<string> = []): Promise<void> {
    const made = Array.from({ length: batch }, () => {
      const name = Path.join(this.path, String(this.pairs++))
      return { stdout: `${name}o`, stderr: `${name}e` }
    })
    const paths = [...others, ...made.flatMap((pair) => [pair.stdout, pair.stderr])]
    await new Promise<void>((resolve, reject) => {
      ChildProcess.execFile("mkfifo", ["-m", "600", ...paths], (error, _, stderr) => {
        if (error === null) return resolve()
        reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`))
      })
    })
    this.free.push(...made)
  }

  /** The path for an output's file. */
  nextOutput(): string {
    const directory = Path.join(this.path, "output")
    Fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    return Path.join(directory, `${++this.outputs}.txt`)
  }

  /** Takes it all away, but for the outputs' files where those are to stay. */
  remove(keepOutputFiles: boolean): void {
    Fs.closeSync(this.commandFd)
    if (keepOutputFiles && this.outputs > 0) {
      for (const name of Fs.readdirSync(this.path)) {
        if (name !== "output") Fs.rmSync(Path.join(this.path, name), { recursive: true, force: true })
      }
      if (Fs.readdirSync(Path.join(this.path, "output")).length > 0) return
    }
    Fs.rmSync(this.path, { recursive: true, force: true })
  }
}
