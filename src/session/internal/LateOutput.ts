/**
 * Keeps what is still printed after a command has ended: by its background processes, or to a copy of its standard output
 * (`exec 7>&1`). The file has a limit, and holds the latest.
 */
import * as Fs from "node:fs"
import type { OutputFile, OutputFiles } from "../OutputFiles.js"

/** The most bytes of a file; once it is full, its first half goes. */
const most = 1024 ** 2

/** Returns the end of the text, from the beginning of a line where one is near. */
const fromLine = (text: Buffer): Buffer => {
  const newline = text.indexOf("\n")
  return newline >= 0 && newline < Math.min(4096, text.length - 1) ? text.subarray(newline + 1) : text
}

/** A file of late output. It is open only while something is written to it. */
export class LateOutput {
  readonly path: string
  private readonly inode: number
  private readonly settle: () => void
  private readonly limit: number
  /** The size of the file. */
  private size = 0
  /** The bytes that came. */
  private total = 0
  /** The bytes that could not be written since the last ones that were. */
  private missing = 0
  private isLost = false

  /** Makes the file; throws the file system's error. `limit` is the most bytes of any file of output. */
  constructor(
    private readonly files: OutputFiles,
    limit: number
  ) {
    this.limit = Math.min(limit, most)
    const file = files.make("background-")
    this.path = file.path
    this.inode = Fs.fstatSync(file.fd).ino
    this.settle = file.settle
    Fs.closeSync(file.fd)
  }

  /** Adds a chunk. What a full disk, or a command that has removed the file, does not let it write is dropped. */
  take(chunk: Buffer): void {
    if (this.isLost) return
    this.total += chunk.length
    let file: OutputFile | undefined
    try {
      file = this.files.again(this.path, this.inode)
      if (file === undefined) this.isLost = true
      else if (this.size + chunk.length > this.limit) this.shorten(file, chunk)
      else this.append(file, this.missing, chunk)
      this.missing = 0
    } catch {
      this.missing += chunk.length
    } finally {
      if (file !== undefined) Fs.closeSync(file.fd)
    }
  }

  /** Tells that nothing comes any more. */
  end(): void {
    this.settle()
  }

  /** Writes a chunk, after a line that tells how much is missing before it. */
  private append(file: OutputFile, leftOut: number, chunk: Buffer): void {
    const before = this.size
    const bytes = leftOut === 0 ? chunk : Buffer.concat([Buffer.from(`[… ${leftOut} bytes left out …]\n`), chunk])
    try {
      while (this.size - before < bytes.length) this.size += Fs.writeSync(file.fd, bytes, this.size - before)
    } finally {
      file.grew(this.size - before)
    }
  }

  /** Keeps the last half of all. */
  private shorten(file: OutputFile, chunk: Buffer): void {
    const { size } = this
    const half = Math.floor(this.limit / 2)
    const before = Buffer.alloc(Math.min(size, Math.max(0, half - chunk.length)))
    const count = Fs.readSync(file.fd, before, 0, before.length, size - before.length)
    const kept = fromLine(Buffer.concat([before.subarray(0, count), chunk.subarray(Math.max(0, chunk.length - half))]))
    Fs.ftruncateSync(file.fd, 0)
    file.grew(-size)
    this.size = 0
    this.append(file, this.total - kept.length, kept)
  }
}
