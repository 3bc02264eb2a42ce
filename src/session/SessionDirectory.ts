/**
 * The private directory of a session: the files that its shell reads, the FIFOs that it writes to, and the files of
 * output that was cut.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import * as SupervisorText from "./internal/SupervisorText.js"
import { OutputFiles } from "./OutputFiles.js"
import * as PrivateDirectory from "./PrivateDirectory.js"
import * as SessionSettings from "./SessionSettings.js"
import type { ShellTerminal } from "./ShellTerminal.js"

const newline = 10

/** The file, held open and rewritten in place, since truncating it first takes ten times as long. */
export class CommandFile {
  private readonly fd: number
  private length = 0

  /** Creates the file; throws the file system's error. */
  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, "wx", 0o600)
  }

  /**
   * Writes the text. Where it can't be written whole, the file is emptied, and the file system's error thrown: the shell
   * must never run a part of a command, nor the rest of another.
   */
  write(text: string): void {
    const length = Buffer.byteLength(text)
    // A text with one more character would be another copy of it, which counts where it is long.
    const bytes = Buffer.allocUnsafe(text.endsWith("\n") ? length : length + 1)
    bytes.write(text)
    bytes[bytes.length - 1] = newline
    const before = this.length
    // What may lie in the file if this fails.
    this.length = Math.max(before, bytes.length)
    try {
      for (let done = 0; done < bytes.length; ) {
        done += Fs.writeSync(this.fd, bytes, done, bytes.length - done, done)
      }
    } catch (error) {
      Fs.ftruncateSync(this.fd, 0)
      throw error
    }
    if (bytes.length < this.length) Fs.ftruncateSync(this.fd, bytes.length)
    this.length = bytes.length
  }

  /** True where a command has deleted it. */
  get isDeleted(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  close(): void {
    Fs.closeSync(this.fd)
  }
}

/** The bytes that are kept. */
const size = 64 * 1024

/** Error codes of a file system that has no more room. */
const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "ENOSPC" || code === "EDQUOT"
}

/** A file that is given up where there is no more room, and made again as soon as there is. */
export class Reserve {
  private kept = false

  constructor(private readonly path: string) {}

  /** Writes something; once more without the reserve, where the disk is full. Throws the error of the last attempt. */
  use(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!isFull(error) || !this.kept) throw error
      this.giveUp()
      return write()
    }
    if (!this.kept) this.keep()
  }

  private keep(): void {
    try {
      // Written, not only made longer: a hole takes no room.
      Fs.writeFileSync(this.path, Buffer.alloc(size, 1), { mode: 0o600, flag: "wx" })
      this.kept = true
    } catch {
      this.giveUp()
    }
  }

  private giveUp(): void {
    this.kept = false
    Fs.rmSync(this.path, { force: true })
  }
}

const isDirectory = (path: string): boolean => Attempt.orElse(() => Fs.lstatSync(path).isDirectory(), false)

/** Removes a directory if it is empty. */
const removeEmpty = (path: string): void => {
  // Other sessions are in it.
  Attempt.ignore(() => Fs.rmdirSync(path))
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
const open = (path: string): boolean =>
  Attempt.orElse(() => {
    Fs.chmodSync(Fs.lstatSync(path).isDirectory() ? path : Path.dirname(path), 0o700)
    return true
  }, false)

/** The directory of a session, with the paths of the files that its shell uses. */
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
  /** A file that exists while a shell is to wait no longer for the program that runs. */
  readonly yields: string
  /** The file that every shell sources at its start. */
  readonly definitions: string
  /** The file that the supervisor runs, and reads at its start. */
  readonly supervisor: string
  /** The terminal that its shells have; undefined where they have none. */
  readonly terminal: ShellTerminal | undefined
  /** The descriptors of a shell's parent that are the shell's own standard streams. */
  readonly streams: Readonly<Record<"input" | "output", string>>
  /** The mark of the first command of the shell that starts next, or was started last. */
  firstMark = ""
  private readonly commandFile: CommandFile
  private readonly reserve: Reserve
  /** The files of its commands' output. */
  readonly output: OutputFiles

  /**
   * Creates the directory; throws the file system's error. `sessionId` marks the processes
   * of its commands. All files of output may have as many bytes as those of one command.
   */
  constructor(
    readonly sessionId: string,
    {
      outputFileLimit,
      privateDirectories,
      terminal
    }: Pick<SessionSettings.Settings, "outputFileLimit" | "privateDirectories" | "terminal"> = SessionSettings.defaults
  ) {
    this.path = PrivateDirectory.make(privateDirectories)
    this.terminal = terminal
    // With a terminal, the parent is `script`.
    const [input, output] = terminal === undefined ? [0, 1] : [5, 6]
    this.streams = { input: `/proc/$PPID/fd/${input}`, output: `/proc/$PPID/fd/${output}` }
    this.output = new OutputFiles(this.path, Fs.statSync(this.path).ino, 2 * outputFileLimit)
    this.command = Path.join(this.path, "command")
    this.state = Path.join(this.path, "state")
    this.restore = Path.join(this.path, "restore")
    this.notFound = Path.join(this.path, "not-found")
    this.force = Path.join(this.path, "force")
    this.yields = Path.join(this.path, "yields")
    this.definitions = Path.join(this.path, "definitions")
    this.supervisor = Path.join(this.path, "supervisor")
    this.commandFile = new CommandFile(this.command)
    this.reserve = new Reserve(Path.join(this.path, "reserve"))
  }

  /** Writes the text that the shell sources next (`CommandFile.write`). */
  writeCommand(text: string): void {
    this.reserve.use(() => this.commandFile.write(text))
  }

  /** Writes the text that every shell sources at its start, and what the supervisor runs. */
  define(text: string): void {
    this.reserve.use(() => {
      this.replace(this.definitions, text)
      this.replace(this.supervisor, SupervisorText.supervisor)
    })
  }

  /** Makes a file anew: without a sandbox, a command may have put a link or a FIFO in the place of the old one. */
  private replace(path: string, content: string | Buffer): void {
    const next = `${path}.${Crypto.randomUUID()}`
    try {
      Fs.writeFileSync(next, content, { mode: 0o600, flag: "wx" })
      Fs.renameSync(next, path)
    } catch (error) {
      Fs.rmSync(next, { force: true })
      throw error
    }
  }

  /** Writes the state that the next shell sources at its start, as Latin-1. */
  hand(state: string): void {
    this.reserve.use(() => this.replace(this.restore, Buffer.from(state, "latin1")))
  }

  /** True where a command has deleted the files. */
  get isDeleted(): boolean {
    return this.commandFile.isDeleted
  }

  /** Tells the shell whether its command is ended by force, or is to go on without it, by a file that is there or not. */
  signal(file: string, isOn: boolean): void {
    // The command has deleted the directory: what was asked for goes on without the file.
    Attempt.ignore(() => {
      if (isOn) this.replace(file, "")
      else Fs.rmSync(file, { force: true })
    })
  }

  /** Removes the directory; with `keepOutputFiles`, the files of outputs stay. */
  remove(keepOutputFiles: boolean): void {
    const { isDeleted } = this.commandFile
    this.commandFile.close()
    // A command may have taken the right to enter it; one that was moved away is not there any more.
    if (!isDeleted && isDirectory(this.path)) Fs.chmodSync(this.path, 0o700)
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
