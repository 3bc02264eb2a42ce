/**
 * Captures one stream of a command's output up to a limit: its head, its tail, and a file with all of it where it
 * exceeds the limit.
 *
 * It uses at most eight bytes of memory for each character of the limit, however much comes.
 */
import * as Fs from "node:fs"
import * as KeptOutput from "../../domain/KeptOutput.js"
import * as TextCut from "../../domain/TextCut.js"
import type { OutputFile } from "../OutputFiles.js"
import * as LineCounter from "./LineCounter.js"
import type { OutputOrder } from "./OutputOrder.js"

/** The limits of a captured stream, and the file for all of it. */
export interface CaptureOptions {
  /** The most characters of the text, without the line that tells what was left out. */
  readonly limit: number
  /** The most bytes of the file; 0 for no file. */
  readonly fileLimit: number
  /** Makes the file, or throws; called only where a file is needed. */
  readonly file: () => OutputFile
}

/** The captured text of a stream. */
export interface Captured {
  readonly text: string
  /**
   * The file that holds the whole output (or as much as `fileLimit` and the disk allow), where the text leaves
   * something out, or whoever shows it will.
   */
  readonly file?: string
  /** The facts about all of the output, for whoever shows it with something left out. */
  readonly kept?: KeptOutput.KeptStream
}

/** A UTF-8 character has four bytes at most. */
const maxBytesPerCharacter = 4

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Takes the bytes of a stream as they come, and returns its text at the end. */
export class OutputCapture {
  /** All bytes while they fit, then the first ones. */
  private head: Array<Buffer> = []
  private headLength = 0
  /** A ring buffer of the last bytes, for when the head is full and no file takes them. */
  private ring: Buffer | undefined
  private ringEnd = 0
  private total = 0
  private file: OutputFile | undefined
  private path: string | undefined
  private written = 0
  /** The reason why the file does not hold everything. */
  private cutFile: string | undefined
  private readonly half: number
  /** The first and the last bytes that are kept, once it is finished: all of them twice, where none was left out. */
  private ends: { readonly head: Buffer; readonly tail: Buffer } | undefined

  constructor(private readonly options: CaptureOptions) {
    this.half = Math.ceil(options.limit / 2) * maxBytesPerCharacter
  }

  /** Takes a chunk; copies its bytes. */
  push(chunk: Buffer): void {
    this.total += chunk.length
    const room = 2 * this.half - this.headLength
    if (this.path !== undefined || this.ring !== undefined) return this.append(chunk)
    this.head.push(chunk.length <= room ? Buffer.from(chunk) : chunk)
    this.headLength += chunk.length
    if (chunk.length > room) this.overflow()
  }

  /** Closes the file and returns the text. The file stays where the text was cut. */
  finish(): Captured {
    const tail = this.readTail()
    this.close()
    const { limit } = this.options
    if (tail === undefined) {
      if (this.total === 0) return { text: "" }
      const all = Buffer.concat(this.head, this.headLength)
      this.ends = { head: all, tail: all }
      const text = all.toString()
      if (text.length <= limit) return { text }
      this.overflow()
      this.close()
      return this.cut(TextCut.headOf(text, Math.ceil(limit / 2)), TextCut.tailOf(text, Math.floor(limit / 2)))
    }
    let start = 0
    while (start < 3 && isContinuation(tail[start])) start++
    const head = Buffer.concat(this.head, this.headLength)
    this.ends = { head, tail }
    return this.cut(
      TextCut.headOf(head.toString(), Math.ceil(limit / 2)),
      TextCut.tailOf(tail.toString("utf8", start), Math.floor(limit / 2))
    )
  }

  /** Puts the whole output, which `finish` has returned as `text`, into the file as well. */
  keep(text: string): Captured {
    this.overflow()
    this.close()
    const kept = { bytes: this.total, where: this.where }
    return this.path === undefined ? { text, kept } : { text, kept, file: this.path }
  }

  /** Returns a counter of the lines of the text that `finish` has returned. */
  counter({ kept, text }: Captured): LineCounter.LineCounter {
    const { head, tail } = this.ends ?? { head: Buffer.alloc(0), tail: Buffer.alloc(0) }
    const lines = LineCounter.linesIn(text)
    const gap = kept?.gap
    const before = gap === undefined ? 0 : text.slice(0, gap.start).split("\n").length - 1
    const behind = gap === undefined ? lines : LineCounter.linesIn(text.slice(gap.end))
    return new LineCounter.LineCounter({ total: this.total, head, tail, lines, before, behind })
  }

  private close(): void {
    if (this.file === undefined) return
    Fs.closeSync(this.file.fd)
    this.file.settle()
    this.file = undefined
  }

  private cut(head: string, tail: string): Captured {
    // A byte that is not UTF-8 counts as the three bytes of its replacement character.
    const left = Math.max(1, this.total - Buffer.byteLength(head) - Buffer.byteLength(tail))
    const before = head.endsWith("\n") ? head : `${head}\n`
    const text = `${before}${KeptOutput.gapLine(left, this.where)}`
    const gap = { start: head.length, end: text.length, bytes: left }
    const captured = { text: `${text}${tail}`, kept: { bytes: this.total, where: this.where, gap } }
    return this.path === undefined ? captured : { ...captured, file: this.path }
  }

  /** Where all of the output is. */
  private get where(): string {
    if (this.path === undefined) return `not kept${this.cutFile === undefined ? "" : `: ${this.cutFile}`}`
    return this.cutFile === undefined
      ? `all of it: ${this.path}`
      : `the first ${this.written} bytes: ${this.path} (${this.cutFile})`
  }

  /** Directs further bytes to the file; without a file, to the ring. */
  private overflow(): void {
    const all = Buffer.concat(this.head, this.headLength)
    if (this.options.fileLimit > 0) {
      try {
        this.file = this.options.file()
        this.path = this.file.path
      } catch (error) {
        this.cutFile = (error as Error).message
      }
    }
    this.head = [all.subarray(0, Math.min(all.length, this.half))]
    this.headLength = this.head[0]?.length ?? 0
    this.append(all)
  }

  private append(chunk: Buffer): void {
    const { file } = this
    if (file !== undefined) {
      const fits = Math.min(chunk.length, this.options.fileLimit - this.written)
      try {
        for (let done = 0; done < fits; ) {
          const count = Fs.writeSync(file.fd, chunk, done, fits - done)
          done += count
          this.written += count
          file.grew(count)
        }
        if (fits === chunk.length) return
        this.cutFile = `it may grow to ${this.options.fileLimit} bytes`
      } catch (error) {
        this.cutFile = (error as Error).message
      }
      // Further bytes go to the ring, which begins with the end of the file, so that a tail can span both.
      const before = Buffer.alloc(Math.min(this.half, this.written))
      Fs.readSync(file.fd, before, 0, before.length, this.written - before.length)
      this.close()
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
    // It only grows: its remainder is the position, and its size tells whether the ring was filled once.
    this.ringEnd += last.length
  }

  /** Returns the last bytes; undefined where the head holds all. */
  private readTail(): Buffer | undefined {
    if (this.ring !== undefined) {
      if (this.ringEnd <= this.ring.length) return this.ring.subarray(0, this.ringEnd)
      const at = this.ringEnd % this.ring.length
      return Buffer.concat([this.ring.subarray(at), this.ring.subarray(0, at)])
    }
    if (this.file === undefined) return undefined
    const tail = Buffer.alloc(Math.min(this.half, this.written))
    Fs.readSync(this.file.fd, tail, 0, tail.length, this.written - tail.length)
    return tail
  }
}

/**
 * Returns the text of both streams of a command, and the order of their lines where it is known. A stream that can't be
 * shown whole gets its file, also where the text is whole.
 *
 * @param limit the most characters that are shown of both together
 */
export const finish = (stdout: OutputCapture, stderr: OutputCapture, limit: number, order?: OutputOrder) => {
  const out = stdout.finish()
  const err = stderr.finish()
  const isOne = out.text === "" || err.text === ""
  const lines = isOne ? undefined : order?.lines(stdout.counter(out), stderr.counter(err))
  return {
    stdout: withFile(stdout, out, err, limit),
    stderr: withFile(stderr, err, out, limit),
    order: lines
  }
}

const withFile = (capture: OutputCapture, captured: Captured, other: Captured, limit: number): Captured =>
  captured.kept === undefined && KeptOutput.isCut(captured.text, other.text.length, limit)
    ? capture.keep(captured.text)
    : captured
