/**
 * The output files of a session: full copies of truncated output, and files that Synapse commands keep. The oldest
 * are removed when all of them together exceed a limit.
 *
 * A command without a sandbox can change their directory. It is therefore held by a descriptor, and links are not
 * followed.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = Fs.constants

const name = "output"

/** An output file, open for reading and writing. */
export interface OutputFile {
  readonly path: string
  readonly fd: number
  /** Reports written bytes, or removed bytes as a negative number. May remove older files. */
  readonly grew: (bytes: number) => void
  /** Marks the file as complete. Complete files are removed before files that still grow. */
  readonly settle: () => void
}

interface Entry {
  readonly name: string
  bytes: number
  /** True while the file may still grow. */
  isOpen: boolean
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT"

/** Creates the output files of a session, and removes the oldest over the limit. */
export class OutputFiles {
  private fd: number | undefined
  private entries: Array<Entry> = []
  private total = 0
  private made = 0

  /** Creates nothing yet. `inode` is the inode of the session's directory, `limit` the total size in bytes. */
  constructor(
    private readonly session: string,
    private readonly inode: number,
    private readonly limit: number
  ) {}

  /** Creates the file `<prefix><number>.<ending>`. Throws the file system's error. */
  make(prefix: string, ending = "txt"): OutputFile {
    const entry: Entry = { name: `${prefix}${++this.made}.${ending}`, bytes: 0, isOpen: true }
    const fd = this.openIn(entry.name, O_RDWR | O_CREAT | O_EXCL)
    this.entries.push(entry)
    return {
      path: this.pathOf(entry.name),
      fd,
      grew: (bytes) => this.grow(entry, bytes),
      settle: () => {
        entry.isOpen = false
      }
    }
  }

  /** Creates a file with this content and returns its path. On an error, removes the file and throws. */
  keep(prefix: string, ending: string, content: Uint8Array): string {
    if (content.length > this.limit / 2) throw new Error(`it is larger than ${this.limit / 2} bytes`)
    const file = this.make(prefix, ending)
    try {
      Fs.writeFileSync(file.fd, content)
      file.grew(content.length)
      file.settle()
      return file.path
    } catch (error) {
      const entry = this.entries.find((one) => this.pathOf(one.name) === file.path)
      if (entry !== undefined) this.removeOne(entry)
      throw error
    } finally {
      Fs.closeSync(file.fd)
    }
  }

  /** True if the limit allows any files. */
  get isAllowed(): boolean {
    return this.limit > 0
  }

  /** True once a file was created. */
  get isUsed(): boolean {
    return this.made > 0
  }

  close(): void {
    if (this.fd !== undefined) Fs.closeSync(this.fd)
    this.fd = undefined
  }

  private pathOf(file: string): string {
    return Path.join(this.session, name, file)
  }

  /** Opens a file in the output directory, creating the directory if it is missing. */
  private openIn(file: string, flags: number): number {
    const open = (fd: number) =>
      Fs.openSync(this.within(fd, Path.join(this.session, name), file), flags | O_NOFOLLOW, 0o600)
    if (this.fd !== undefined) {
      try {
        return open(this.fd)
      } catch (error) {
        if (!isMissing(error) || Fs.fstatSync(this.fd).nlink > 0) throw error
        this.close()
      }
    }
    this.fd = this.openDirectory()
    return open(this.fd)
  }

  private openDirectory(): number {
    const session = Fs.openSync(this.session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    try {
      if (Fs.fstatSync(session).ino !== this.inode) throw new Error(`${this.session} was replaced`)
      const path = this.within(session, this.session, name)
      try {
        Fs.mkdirSync(path, { mode: 0o700 })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      }
      return Fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } finally {
      Fs.closeSync(session)
    }
  }

  /** Returns a file's path through an open directory descriptor on Linux, or its plain path elsewhere. */
  private within(fd: number, directory: string, file: string): string {
    return process.platform === "linux" ? `/proc/self/fd/${fd}/${file}` : Path.join(directory, file)
  }

  private grow(entry: Entry, bytes: number): void {
    if (!this.entries.includes(entry)) return
    entry.bytes += bytes
    this.total += bytes
    while (this.total > this.limit) {
      const oldest = this.entries.find((one) => !one.isOpen) ?? this.entries.find((one) => one !== entry)
      if (oldest === undefined) return
      this.removeOne(oldest)
    }
  }

  private removeOne(entry: Entry): void {
    this.entries = this.entries.filter((one) => one !== entry)
    this.total -= entry.bytes
    if (this.fd === undefined) return
    Fs.rmSync(this.within(this.fd, Path.join(this.session, name), entry.name), { force: true })
  }
}
