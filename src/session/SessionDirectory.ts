/**
 * The private directory of a session: the command's text, the FIFOs of its output, and the files of output that was
 * cut.
 *
 * @since 0.1.0
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Protocol from "./Protocol.js"

/** The paths at which systems have mkfifo. */
const systems = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"]

/** The number of FIFO pairs that one call of mkfifo makes. */
const batch = 4

/**
 * The paths of a pair of FIFOs.
 *
 * @since 0.1.0
 * @category models
 */
export interface PipePaths {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Returns the name of the directory that holds all sessions of this user; it lies in the directory for temporary files.
 *
 * @since 0.1.0
 */
export const parentName = (): string => `synapse-${process.getuid?.() ?? 0}`

/**
 * Makes a new directory in one of the user's own, `<tmp>/synapse-<uid>`: a sandbox hides that one from its commands,
 * and so hides all other sessions.
 */
const makePrivate = (): string => {
  const uid = process.getuid?.() ?? 0
  const parent = Path.join(Fs.realpathSync(Os.tmpdir()), parentName())
  for (;;) {
    try {
      Fs.mkdirSync(parent, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    try {
      const owner = Fs.lstatSync(parent)
      if (!owner.isDirectory() || owner.uid !== uid || (owner.mode & 0o077) !== 0) {
        throw new Error(`${parent} must be a directory of yours that nobody else may enter: remove it`)
      }
      return Fs.mkdtempSync(Path.join(parent, "session-"))
    } catch (error) {
      // Another session has ended in between, and has removed the empty parent.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
}

/** Removes a directory if it is empty. */
const removeEmpty = (path: string): void => {
  try {
    Fs.rmdirSync(path)
  } catch {
    // Other sessions are in it.
  }
}

/**
 * The directory of a session, with the paths of the files that its shell uses.
 *
 * @since 0.1.0
 * @category models
 */
export class SessionDirectory {
  readonly path: string
  /** The file with the text of the command that runs. */
  readonly command: string
  /** The FIFO that an ending shell writes its state to. */
  readonly state: string
  /** The file with the state that the next shell starts with. */
  readonly restore: string
  /** The FIFO that the shell writes the names of commands to that it did not find. */
  readonly notFound: string
  /** A file that exists while a command is ended by force. */
  readonly force: string
  /** The file that every shell sources at its start. */
  readonly definitions: string
  /** The files that the shell sources before a command (`begin`) and after it (`end`). */
  readonly begin: string
  readonly end: string
  private readonly commandFd: number
  private commandLength = 0
  private free: Array<PipePaths> = []
  private pairs = 0
  private outputs = 0

  /** Creates the directory; throws the file system's error. `addPairs` makes its FIFOs. */
  constructor() {
    this.path = makePrivate()
    this.command = Path.join(this.path, "command")
    this.state = Path.join(this.path, "state")
    this.restore = Path.join(this.path, "restore")
    this.notFound = Path.join(this.path, "not-found")
    this.force = Path.join(this.path, "force")
    this.definitions = Path.join(this.path, "definitions")
    this.begin = Path.join(this.path, "begin")
    this.end = Path.join(this.path, "end")
    this.commandFd = Fs.openSync(this.command, "wx", 0o600)
    Fs.writeFileSync(this.begin, Protocol.begin(this), { mode: 0o600 })
    Fs.writeFileSync(this.end, Protocol.end, { mode: 0o600 })
  }

  /**
   * Writes the text that the shell sources next. The file is rewritten in place, since truncating it first takes ten
   * times as long.
   */
  writeCommand(text: string): void {
    const bytes = Buffer.from(text.endsWith("\n") ? text : `${text}\n`)
    for (let done = 0; done < bytes.length; ) {
      done += Fs.writeSync(this.commandFd, bytes, done, bytes.length - done, done)
    }
    if (bytes.length < this.commandLength) Fs.ftruncateSync(this.commandFd, bytes.length)
    this.commandLength = bytes.length
  }

  /** Writes the text that every shell sources at its start. */
  define(text: string): void {
    Fs.writeFileSync(this.definitions, text, { mode: 0o600 })
  }

  /** True where a command has deleted the directory. */
  get lost(): boolean {
    return Fs.fstatSync(this.commandFd).nlink === 0
  }

  /** Tells the shell whether its command is ended by force. */
  useForce(force: boolean): void {
    try {
      if (force) Fs.writeFileSync(this.force, "")
      else Fs.rmSync(this.force, { force: true })
    } catch {
      // The command has deleted the directory: the interruption goes on without the file.
    }
  }

  /** Takes a pair of unused FIFOs; undefined where there is none. */
  takePair(): PipePaths | undefined {
    return this.free.pop()
  }

  /** True where there is a pair of unused FIFOs. */
  get hasPair(): boolean {
    return this.free.length > 0
  }

  /** Makes more pairs, and the other FIFOs named; rejects with mkfifo's error. */
  async addPairs(others: ReadonlyArray<string> = []): Promise<void> {
    const made = Array.from({ length: batch }, () => {
      const name = Path.join(this.path, String(this.pairs++))
      return { stdout: `${name}o`, stderr: `${name}e` }
    })
    await this.makeFifos([...others, ...made.flatMap((pair) => [pair.stdout, pair.stderr])])
    this.free.push(...made)
  }

  /** Makes FIFOs; rejects with mkfifo's error. */
  makeFifos(paths: ReadonlyArray<string>): Promise<void> {
    return new Promise((resolve, reject) => {
      // Not searched in PATH: a command may have put a program there, and this one runs outside of its sandbox.
      const mkfifo = systems.find((path) => Fs.existsSync(path))
      if (mkfifo === undefined) return reject(new Error(`mkfifo is required, and is at none of ${systems.join(", ")}`))
      ChildProcess.execFile(mkfifo, ["-m", "600", ...paths], (error, _, stderr) => {
        if (error === null) return resolve()
        reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`))
      })
    })
  }

  /** Returns a new path for the file of an output. */
  nextOutput(): string {
    const directory = Path.join(this.path, "output")
    Fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    return Path.join(directory, `${++this.outputs}.txt`)
  }

  /** Removes the directory; with `keepOutputFiles`, the files of outputs stay. */
  remove(keepOutputFiles: boolean): void {
    Fs.closeSync(this.commandFd)
    if (keepOutputFiles && this.outputs > 0) {
      for (const name of Fs.readdirSync(this.path)) {
        if (name !== "output") Fs.rmSync(Path.join(this.path, name), { recursive: true, force: true })
      }
      removeEmpty(Path.join(this.path, "output"))
      removeEmpty(this.path)
    } else {
      Fs.rmSync(this.path, { recursive: true, force: true })
    }
    removeEmpty(Path.dirname(this.path))
  }
}
