/**
 * One stream of a command's output, kept under a cap: a head, a tail, and a file with all of it once it grows past them.
 *
 * Memory stays bounded whatever comes: at most eight bytes a character of the cap.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

/**
 * How much of a stream is kept, and where.
 *
 * @since 0.1.0
 * @category models
 */
export interface CaptureOptions {
  /** Characters that the text keeps at most, without the line that says what was left out. */
  readonly limit: number
  /** Bytes that the file may grow to; 0 for none. */
  readonly fileLimit: number
  /** Where the file goes; asked only once there is need of one. */
  readonly file: () => string
}

/**
 * What was kept of a stream.
 *
 * @since 0.1.0
 * @category models
 */
export interface Captured {
  readonly text: string
  /** The file that holds all of it (or as much as `fileLimit` and the disk allow), where something was left out. */
  readonly file?: string
}

/** A UTF-8 character has four bytes at most. */
const maxBytesPerCharacter = 4

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** How far a cut may move to fall between two lines: not far, and never half of what is kept. */
const slackOf = (count: number) => Math.min(200, count / 2)

/** The first `count` characters, cut behind a line's end where one is near, and never inside a surrogate pair. */
const headOf = (text: string, count: number): string => {
  const newline = text.lastIndexOf("\n", count - 1)
  if (newline >= count - slackOf(count)) return text.slice(0, newline + 1)
  const code = text.charCodeAt(count - 1)
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? count - 1 : count)
}

/** The last `count` characters, by the same rules. */
const tailOf = (text: string, count: number): string => {
  const start = text.length - count
  const newline = text.indexOf("\n", start - 1)
  if (newline >= 0 && newline < Math.min(start + slackOf(count), text.length - 1)) return text.slice(newline + 1)
  const code = text.charCodeAt(start)
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start)
}

/**
 * Takes the bytes of a stream as they come, and gives its text at the end.
 *
 * @since 0.1.0
 * @category models
 */
export class OutputCapture {
  /** All bytes while they fit, else the first ones. */
  private head: Array<Buffer> = []
  private headLength = 0
  /** The last bytes in a ring, once the head is full and no file holds them. */
  private ring: Buffer | undefined
  private ringEnd = 0
  private total = 0
  private fd: number | undefined
  private path: string | undefined
  private written = 0
  /** Why the file does not hold everything. */
  private cutFile: string | undefined
  private readonly half: number

  constructor(private readonly options: CaptureOptions) {
    this.half = Math.ceil(options.limit / 2) * maxBytesPerCharacter
  }

  /** Takes a copy of the bytes. */
  push(chunk: Buffer): void {
    this.total += chunk.length
    const room = 2 * this.half - this.headLength
    if (this.path !== undefined || this.ring !== undefined) return this.append(chunk)
    this.head.push(chunk.length <= room ? Buffer.from(chunk) : chunk)
    this.headLength += chunk.length
    if (chunk.length > room) this.overflow()
  }

  /** Closes the file and gives the text. Where it was cut, the file (if any) stays. */
  finish(): Captured {
    const tail = this.readTail()
    if (this.fd !== undefined) Fs.closeSync(this.fd)
    this.fd = undefined
    const { limit } = this.options
    if (tail === undefined) {
      if (this.total === 0) return { text: "" }
      const text = Buffer.concat(this.head, this.headLength).toString()
      if (text.length <= limit) return { text }
      this.overflow()
      if (this.fd !== undefined) Fs.closeSync(this.fd)
      this.fd = undefined
      return this.cut(headOf(text, Math.ceil(limit / 2)), tailOf(text, Math.floor(limit / 2)))
    }
    let start = 0
    while (start < 3 && isContinuation(tail[start])) start++
    const head = Buffer.concat(this.head, this.headLength).toString()
    return this.cut(headOf(head, Math.ceil(limit / 2)), tailOf(tail.toString("utf8", start), Math.floor(limit / 2)))
  }

  /** Closes the file and deletes it: nobody will read it. */
  discard(): void {
    if (this.fd !== undefined) Fs.closeSync(this.fd)
    this.fd = undefined
    if (this.path !== undefined) Fs.rmSync(this.path, { force: true })
    this.path = undefined
  }

  private cut(head: string, tail: string): Captured {
    // A byte that is no UTF-8 counts as the three of what stands for it.
    const left = Math.max(1, this.total - Buffer.byteLength(head) - Buffer.byteLength(tail))
    const where =
      this.path === undefined
        ? `not kept${this.cutFile === undefined ? "" : `: ${this.cutFile}`}`
        : this.cutFile === undefined
          ? `all of it: ${this.path}`
          : `the first ${this.written} bytes: ${this.path} (${this.cutFile})`
    const text = `${head}${head.endsWith("\n") ? "" : "\n"}[… ${left} bytes left out; ${where} …]\n${tail}`
    return this.path === undefined ? { text } : { text, file: this.path }
  }

  /** From here on the bytes go to the file; without one, the last go to the ring. */
  private overflow(): void {
    const all = Buffer.concat(this.head, this.headLength)
    if (this.options.fileLimit > 0) {
      try {
        const path = this.options.file()
        this.fd = Fs.openSync(path, "wx+", 0o600)
        this.path = path
      } catch (error) {
        this.cutFile = (error as Error).message
      }
    }
    this.head = [all.subarray(0, Math.min(all.length, this.half))]
    this.headLength = this.head[0]?.length ?? 0
    this.append(all)
  }

  private append(chunk: Buffer): void {
    if (this.fd !== undefined) {
      const fits = Math.min(chunk.length, this.options.fileLimit - this.written)
      try {
        for (let done = 0; done < fits; ) {
          const count = Fs.writeSync(this.fd, chunk, done, fits - done)
          done += count
          this.written += count
        }
        if (fits === chunk.length) return
        this.cutFile = `it may grow to ${this.options.fileLimit} bytes`
      } catch (error) {
        this.cutFile = (error as Error).message
      }
      // From here on the ring: it begins with the file's end, so that a tail spans both.
      const before = Buffer.alloc(Math.min(this.half, this.written))
      Fs.readSync(this.fd, before, 0, before.length, this.written - before.length)
      Fs.closeSync(this.fd)
      this.fd = undefined
      this.intoRing(before)
      this.intoRing(chunk.subarray(Math.min(fits, chunk.length)))
      return
    }
    this.intoRing(chunk)
  }

  private intoRing(chunk: Buffer): void {
    this.ring ??= Buffer.allocUnsafe(this.half)
    const ring = this.ring
    const last = chunk.length > ring.length ? chunk.subarray(chunk.length - ring.length) : chunk
    const at = this.ringEnd % ring.length
    const first = Math.min(last.length, ring.length - at)
    last.copy(ring, at, 0, first)
    last.copy(ring, 0, first)
    // Grows without bound but for the remainder, and tells whether the ring was filled once.
    this.ringEnd += last.length
  }

  /** The last bytes, where not all are in the head. */
  private readTail(): Buffer | undefined {
    if (this.ring !== undefined) {
      if (this.ringEnd <= this.ring.length) return this.ring.subarray(0, this.ringEnd)
      const at = this.ringEnd % this.ring.length
      return Buffer.concat([this.ring.subarray(at), this.ring.subarray(0, at)])
    }
    if (this.fd === undefined) return undefined
    const tail = Buffer.alloc(Math.min(this.half, this.written))
    Fs.readSync(this.fd, tail, 0, tail.length, this.written - tail.length)
    return tail
  }
}
