/**
 * The private directory of a session: the command's text, the FIFOs of its output, and the files of output that was
 * cut.
 *
 * @since 0.1.0
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as DirectoryStamp from "./DirectoryStamp.js"
import * as KeeperText from "./KeeperText.js"
import { OutputFiles } from "./OutputFiles.js"
import * as PrivateDirectory from "./PrivateDirectory.js"
import { Reserve } from "./Reserve.js"
import * as SessionSettings from "./SessionSettings.js"

/** The paths at which systems have mkfifo. */
const systems = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"]

const newline = 10

/** The number of FIFO pairs that one call of mkfifo makes. */
const batch = 4

/**
 * The paths of a pair of FIFOs.
 *
 * @since 0.1.0
 * @category models
 */
export interface PipePaths {
  /** The standard input; where undefined, it is empty. */
  readonly stdin?: string
  readonly stdout: string
  readonly stderr: string
}

/**
 * Returns the name of the directory that holds all sessions of this user where it lies in one for temporary files.
 *
 * @since 0.1.0
 */
export const parentName = (): string => `synapse-${process.getuid?.() ?? 0}`

const isDirectory = (path: string): boolean => {
  try {
    return Fs.lstatSync(path).isDirectory()
  } catch {
    return false
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
 * Removes a file or a directory with all that is in it, also where a command has taken away the right to look into it.
 * Leaves it in place where a command has closed a directory around it: the next start removes it (`DirectoryOwner.sweep`).
 */
const removeAll = (path: string): void => {
  for (let tries = 0; tries < 1000; tries++) {
    try {
      // What still runs may make a file in it meanwhile.
      return Fs.rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 5 })
    } catch (error) {
      const { code, path: at } = error as NodeJS.ErrnoException
      if (code !== "EACCES" || at === undefined || !open(at)) return
    }
  }
}

/** Gives back the rights to a directory, or to the one around a file; returns whether that went well. */
const open = (path: string): boolean => {
  try {
    Fs.chmodSync(Fs.lstatSync(path).isDirectory() ? path : Path.dirname(path), 0o700)
    return true
  } catch {
    return false
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
  /** The FIFO of the standard input of a command that has one. */
  readonly stdin: string
  /** The file with the state that the next shell starts with. */
  readonly restore: string
  /** The FIFO that the shell writes the names of commands to that it did not find. */
  readonly notFound: string
  /** A file that exists while a command is ended by force. */
  readonly force: string
  /** The file that every shell sources at its start. */
  readonly definitions: string
  /** The file that the keeper runs, and reads at its start. */
  readonly keeper: string
  private readonly inode: number
  private readonly commandFd: number
  /** The files whose text never changes, and that which every start writes. */
  private readonly texts = new Map<string, string>()
  private commandLength = 0
  private readonly reserve: Reserve
  private free: Array<PipePaths> = []
  private pairs = 0
  /** The files of its commands' output. */
  readonly output: OutputFiles

  /**
   * Creates the directory; throws the file system's error. `addPairs` makes its FIFOs. `sessionId` marks the processes
   * of its commands (`CommandMark`). All files of output may have as many bytes as those of one command.
   */
  constructor(
    readonly sessionId: string,
    {
      outputFileLimit,
      privateDirectories
    }: Pick<SessionSettings.Settings, "outputFileLimit" | "privateDirectories"> = SessionSettings.defaults
  ) {
    this.path = PrivateDirectory.make(privateDirectories)
    this.inode = Fs.statSync(this.path).ino
    this.output = new OutputFiles(this.path, this.inode, 2 * outputFileLimit)
    this.command = Path.join(this.path, "command")
    this.state = Path.join(this.path, "state")
    this.stdin = Path.join(this.path, "stdin")
    this.restore = Path.join(this.path, "restore")
    this.notFound = Path.join(this.path, "not-found")
    this.force = Path.join(this.path, "force")
    this.definitions = Path.join(this.path, "definitions")
    this.keeper = Path.join(this.path, "keeper")
    this.commandFd = Fs.openSync(this.command, "wx", 0o600)
    this.reserve = new Reserve(Path.join(this.path, "reserve"))
    this.writeText(this.keeper, KeeperText.keeper)
  }

  /**
   * Writes the text that the shell sources next. The file is rewritten in place, since truncating it first takes ten
   * times as long. Where it can't be written whole, it is emptied: the shell must never run a part of a command, nor the
   * rest of another.
   */
  writeCommand(text: string): void {
    const length = Buffer.byteLength(text)
    // A text with one more character would be another copy of it, which counts where it is long.
    const bytes = Buffer.allocUnsafe(text.endsWith("\n") ? length : length + 1)
    bytes.write(text)
    bytes[bytes.length - 1] = newline
    this.reserve.use(() => this.overwrite(bytes))
  }

  private overwrite(bytes: Buffer): void {
    const before = this.commandLength
    // What may lie in the file if this fails.
    this.commandLength = Math.max(before, bytes.length)
    try {
      for (let done = 0; done < bytes.length; ) {
        done += Fs.writeSync(this.commandFd, bytes, done, bytes.length - done, done)
      }
    } catch (error) {
      Fs.ftruncateSync(this.commandFd, 0)
      throw error
    }
    if (bytes.length < this.commandLength) Fs.ftruncateSync(this.commandFd, bytes.length)
    this.commandLength = bytes.length
  }

  /** Writes the text that every shell sources at its start. */
  define(text: string): void {
    this.reserve.use(() => this.writeText(this.definitions, text))
  }

  /** Makes a file anew: without a sandbox, a command may have put a link or a FIFO in the place of the old one. */
  private replace(path: string, content: string | Buffer): void {
    const next = `${path}.${crypto.randomUUID()}`
    try {
      Fs.writeFileSync(next, content, { mode: 0o600, flag: "wx" })
      Fs.renameSync(next, path)
    } catch (error) {
      Fs.rmSync(next, { force: true })
      throw error
    }
  }

  private writeText(path: string, text: string): void {
    this.replace(path, text)
    this.texts.set(path, text)
  }

  /** True where no command has changed what the shells read. */
  get isIntact(): boolean {
    try {
      const { ino } = Fs.fstatSync(this.commandFd)
      if ((Fs.lstatSync(this.path).mode & 0o777) !== 0o700 || Fs.lstatSync(this.command).ino !== ino) return false
      // What is no regular file might never end.
      return Array.from(this.texts).every(
        ([path, text]) => Fs.lstatSync(path).isFile() && Fs.readFileSync(path, "utf8") === text
      )
    } catch {
      return false
    }
  }

  /** Writes the state that the next shell sources at its start, as Latin-1. */
  hand(state: string): void {
    this.reserve.use(() => this.replace(this.restore, Buffer.from(state, "latin1")))
  }

  /** True where a command has deleted the directory, or put another one in its place. */
  get lost(): boolean {
    return !DirectoryStamp.isThere(this.path, this.inode) || Fs.fstatSync(this.commandFd).nlink === 0
  }

  /** The stamp of the directory (`DirectoryStamp.of`). */
  get stamp(): number | undefined {
    return DirectoryStamp.of(this.path, this.inode)
  }

  /** Tells the shell whether its command is ended by force. */
  useForce(force: boolean): void {
    try {
      if (force) this.replace(this.force, "")
      else Fs.rmSync(this.force, { force: true })
    } catch {
      // The command has deleted the directory: the interruption goes on without the file.
    }
  }

  /** Takes a pair of unused FIFOs; undefined where there is none. */
  takePair(): PipePaths | undefined {
    return this.free.pop()
  }

  /** Takes back a pair that could not be opened. */
  givePair(paths: PipePaths): void {
    this.free.push(paths)
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

  /** Removes the directory; with `keepOutputFiles`, the files of outputs stay. */
  remove(keepOutputFiles: boolean): void {
    const { nlink } = Fs.fstatSync(this.commandFd)
    Fs.closeSync(this.commandFd)
    // A command may have taken the right to enter it; one that was moved away is not there any more.
    if (nlink > 0 && isDirectory(this.path)) Fs.chmodSync(this.path, 0o700)
    this.output.close()
    if (keepOutputFiles && this.output.isUsed) {
      for (const name of Fs.readdirSync(this.path)) {
        if (name !== "output") removeAll(Path.join(this.path, name))
      }
      removeEmpty(Path.join(this.path, "output"))
      removeEmpty(this.path)
    } else {
      removeAll(this.path)
    }
    removeEmpty(Path.dirname(this.path))
  }
}
