/** The private directory of a session: files that its shell reads, FIFOs that it writes to, and output files. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../domain/Attempt.js"
import * as SupervisorText from "./internal/SupervisorText.js"
import { OutputFiles } from "./OutputFiles.js"
import * as PrivateDirectory from "./PrivateDirectory.js"
import * as RandomText from "./RandomText.js"
import * as SessionSettings from "./SessionSettings.js"
import type { ShellTerminal } from "./ShellTerminal.js"

const newline = 10

/** The file with the command's text, overwritten in place, since truncating it first takes ten times longer. */
export class CommandFile {
  private readonly fd: number
  private length = 0

  /** Creates the file. Throws the file system's error. */
  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, "wx", 0o600)
  }

  /**
   * Writes the text. On an error, empties the file and throws: the shell must never run part of a command, or the rest
   * of an older one.
   */
  write(text: string): void {
    const length = Buffer.byteLength(text)
    // The newline is added in the buffer, since appending it to a long text would copy the text.
    const bytes = Buffer.allocUnsafe(text.endsWith("\n") ? length : length + 1)
    bytes.write(text)
    bytes[bytes.length - 1] = newline
    const before = this.length
    // If writing fails, the file may be this long.
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

  /** True if a command has deleted the file. */
  get isDeleted(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  close(): void {
    Fs.closeSync(this.fd)
  }
}

/** The size of the reserve, in bytes. */
const size = 64 * 1024

/** Tests for the error of a full disk or an exhausted quota. */
const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "ENOSPC" || code === "EDQUOT"
}

/** A file that is deleted to make room on a full disk, and made again as soon as there is room. */
export class Reserve {
  private kept = false

  constructor(private readonly path: string) {}

  /** Runs a write; on a full disk, repeats it without the reserve. Throws the last error. */
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
      // Filled with data, since a hole would take no room on disk.
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

const removeEmpty = (path: string): void => {
  // Other sessions are still in it.
  Attempt.ignore(() => Fs.rmdirSync(path))
}

/**
 * Removes a file or directory with everything in it, even if a command has removed access rights. Gives up on a
 * directory that a command has locked from outside: the next start removes it (`PrivateDirectory.sweep`).
 */
const removeAll = (path: string): void => {
  for (let tries = 0; tries < 1000; tries++) {
    try {
      // Retries, since a running process may still create files in it.
      Fs.rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 5 })
      // The last file that `rmSync` has seen may be a FIFO (`Fifo.look`).
      return void Fs.statSync("/")
    } catch (error) {
      const { code, path: at } = error as NodeJS.ErrnoException
      if (code !== "EACCES" || at === undefined || !open(at)) return
    }
  }
}

/** Restores the rights to a directory, or to the one around a file. Returns whether that worked. */
const open = (path: string): boolean =>
  Attempt.orElse(() => {
    Fs.chmodSync(Fs.lstatSync(path).isDirectory() ? path : Path.dirname(path), 0o700)
    return true
  }, false)

/** A session's directory and the paths of its files. */
export class SessionDirectory {
  readonly path: string
  /** The text of the running command. */
  readonly command: string
  /** A FIFO for the state that an ending shell writes. */
  readonly state: string
  /** The state that the next shell starts with. */
  readonly restore: string
  /** A FIFO for the names of commands that bash did not find. */
  readonly notFound: string
  /** A file that exists while a command is being ended by force. */
  readonly force: string
  /** A file that exists while the shell should stop waiting for the running program. */
  readonly yields: string
  /** The bash text that every shell sources at its start. */
  readonly definitions: string
  /** The supervisor's script. */
  readonly supervisor: string
  /** The terminal of the shells, if they have one. */
  readonly terminal: ShellTerminal | undefined
  /** The shell's own standard streams, as descriptors of the shell's parent. */
  readonly streams: Readonly<Record<"input" | "output", string>>
  /** The mark of the first command in the next shell, or in the running one. */
  firstMark = ""
  private readonly commandFile: CommandFile
  private readonly reserve: Reserve
  readonly output: OutputFiles

  /**
   * Creates the directory. Throws the file system's error. `sessionId` marks the processes of its commands. All
   * output files together may be twice as large as the largest one.
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

  /** Writes the command that the shell sources next (`CommandFile.write`). */
  writeCommand(text: string): void {
    this.reserve.use(() => this.commandFile.write(text))
  }

  /** Writes the text that every shell sources at its start, and the supervisor's script. */
  define(text: string): void {
    this.reserve.use(() => {
      this.replace(this.definitions, text)
      this.replace(this.supervisor, SupervisorText.supervisor)
    })
  }

  /** Replaces a file by a new one. Without a sandbox, a command may have put a link or a FIFO in its place. */
  private replace(path: string, content: string | Buffer): void {
    const next = `${path}.${RandomText.make(8)}`
    try {
      Fs.writeFileSync(next, content, { mode: 0o600, flag: "wx" })
      Fs.renameSync(next, path)
    } catch (error) {
      Fs.rmSync(next, { force: true })
      throw error
    }
  }

  /** Writes the state for the next shell, as Latin-1. */
  hand(state: string): void {
    this.reserve.use(() => this.replace(this.restore, Buffer.from(state, "latin1")))
  }

  /** True if a command has deleted the files. */
  get isDeleted(): boolean {
    return this.commandFile.isDeleted
  }

  /** Creates or removes a file that signals something to the shell: `force` or `yields`. */
  signal(file: string, isOn: boolean): void {
    // If the command has deleted the directory, the signals alone must do.
    Attempt.ignore(() => {
      if (isOn) this.replace(file, "")
      else Fs.rmSync(file, { force: true })
    })
  }

  /** Removes the directory. With `keepOutputFiles`, keeps the output files. */
  remove(keepOutputFiles: boolean): void {
    const { isDeleted } = this.commandFile
    this.commandFile.close()
    // A command may have removed the right to enter the directory, or moved the directory away.
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
