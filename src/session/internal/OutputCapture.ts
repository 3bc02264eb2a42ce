/**
 * Captures one stream of a command's output: its head and tail up to a limit, and a file with everything beyond it.
 *
 * Needs at most eight bytes of memory per character of the limit, however much comes.
 */
import * as Fs from "node:fs"
import type { LineOrder, StreamName } from "../../domain/KeptOutput.js"
import * as KeptOutput from "../../domain/KeptOutput.js"
import * as TextCut from "../../domain/TextCut.js"
import * as Newlines from "../../files/Newlines.js"
import type { OutputFile } from "../OutputFiles.js"

/** A batch of reads: how many bytes of each stream, and in how many alternating turns the streams were written. */
interface Group {
  stdout: number
  stderr: number
  first: StreamName
  turns: number
}

/** The most groups to keep. Beyond that, the groups in the middle are merged into one. */
const maxGroups = 4096
const keptAtEnds = 1024

const otherOf = (stream: StreamName): StreamName => (stream === "stdout" ? "stderr" : "stdout")

const lastOf = ({ first, turns }: Group): StreamName => (turns % 2 === 1 ? first : otherOf(first))

const hasBoth = ({ stderr, stdout }: Group): boolean => stdout > 0 && stderr > 0

/** Records in which order a command wrote to its two streams. */
export class OutputOrder {
  private groups: Array<Group> = []
  private open: Group | undefined

  /** Adds a write of unknown length, which may have been read already. */
  wrote(stream: StreamName): void {
    const group = this.opened(stream)
    if (group.turns === 0 || lastOf(group) !== stream) {
      if (group.turns === 0) group.first = stream
      group.turns++
    }
  }

  took(stream: StreamName, bytes: number): void {
    if (bytes > 0) this.opened(stream)[stream] += bytes
  }

  /** True if both streams had bytes since the last `settle`. */
  get isMixed(): boolean {
    return this.open !== undefined && hasBoth(this.open)
  }

  /** Marks everything read so far as written before everything that follows. */
  settle(): void {
    const { open } = this
    this.open = undefined
    if (open === undefined || open.stdout + open.stderr === 0) return
    const before = this.groups.at(-1)
    if (before === undefined || hasBoth(before) || hasBoth(open) || before.stdout > 0 !== open.stdout > 0) {
      this.groups.push(open)
    } else {
      before.stdout += open.stdout
      before.stderr += open.stderr
    }
    if (this.groups.length > maxGroups) {
      const count = this.groups.length - 2 * keptAtEnds
      const middle = this.groups.splice(keptAtEnds, count)
      this.groups.splice(keptAtEnds, 0, middle.reduce(together))
    }
  }

  /** Returns the order in lines. Undefined if only one stream has lines, or all of standard output came first. */
  lines(stdout: LineCounter, stderr: LineCounter): LineOrder | undefined {
    this.settle()
    const counters = { stdout, stderr }
    const read = { stdout: 0, stderr: 0 }
    const told = { stdout: 0, stderr: 0 }
    const order: Array<[StreamName, number]> = []
    const add = (stream: StreamName, lines: number) => {
      const last = order.at(-1)
      if (lines === 0) return
      if (last?.[0] === stream) last[1] += lines
      else order.push([stream, lines])
    }
    const take = (stream: StreamName, bytes: number): number => {
      read[stream] += bytes
      const lines = counters[stream](read[stream]) - told[stream]
      told[stream] += lines
      return lines
    }
    for (const group of this.groups) {
      const lines = { stdout: take("stdout", group.stdout), stderr: take("stderr", group.stderr) }
      for (const [stream, count] of shared(group, lines)) add(stream, count)
    }
    const isPlain = order.length < 2 || (order.length === 2 && order[0]?.[0] === "stdout")
    return isPlain ? undefined : order
  }

  private opened(first: StreamName): Group {
    this.open ??= { stdout: 0, stderr: 0, first, turns: 0 }
    return this.open
  }
}

/** Merges two groups, forgetting their turns. */
const together = (one: Group, next: Group): Group => ({
  stdout: one.stdout + next.stdout,
  stderr: one.stderr + next.stderr,
  first: "stdout",
  turns: 0
})

/** Gives a group a turn for each stream with bytes. Without known turns, standard output comes first. */
const known = (group: Group): Group => {
  if (!hasBoth(group)) return { ...group, first: group.stdout > 0 ? "stdout" : "stderr", turns: 1 }
  if (group.turns === 0) return { ...group, first: "stdout", turns: 2 }
  return group.turns === 1 ? { ...group, turns: 2 } : group
}

/** Divides a group's lines among its turns. */
function* shared(group: Group, lines: Readonly<Record<StreamName, number>>): Iterable<[StreamName, number]> {
  const { first, turns } = known(group)
  const other = otherOf(first)
  const turnsOfStream = { [first]: Math.ceil(turns / 2), [other]: Math.floor(turns / 2) } as Record<StreamName, number>
  for (let turn = 0; turn < turns; turn++) {
    const stream = turn % 2 === 0 ? first : other
    const at = Math.floor(turn / 2)
    const until = (turns: number) => Math.floor((turns * lines[stream]) / turnsOfStream[stream])
    yield [stream, until(at + 1) - until(at)]
  }
}

/** Returns a function that counts the newlines before a position. Positions must not decrease. */
const counting = (bytes: Buffer): ((end: number) => number) => {
  let [read, count] = [0, 0]
  return (end) => {
    count += Newlines.count(bytes.subarray(read, end))
    read = Math.max(read, end)
    return count
  }
}

/** Counts the complete lines in the first bytes of a stream. Positions must not decrease. */
export type LineCounter = (position: number) => number

interface CaptureOptions {
  /** The most characters of the text, not counting the line about the gap. */
  readonly limit: number
  /** The largest file, in bytes; 0 for no file. */
  readonly fileLimit: number
  /** Creates the file, or throws. Called only if a file is needed. */
  readonly file: () => OutputFile
}

export interface Captured {
  readonly text: string
  /** The whole output, as far as `fileLimit` and the disk allow. Present if the text is or will be shown with a gap. */
  readonly file?: string
  /** Facts about the whole output, for showing it with a gap. */
  readonly kept?: KeptOutput.KeptStream
}

const maxBytesPerCharacter = 4

/** Takes a stream's bytes as they come, and returns its text at the end. */
export class OutputCapture {
  /** All bytes while they fit, then the first ones. */
  private head: Array<Buffer> = []
  private headLength = 0
  /** A ring buffer of the last bytes, used once the head is full. */
  private ring: Buffer | undefined
  private ringEnd = 0
  private total = 0
  private file: OutputFile | undefined
  private path: string | undefined
  private written = 0
  /** Why the file does not hold everything. */
  private cutFile: string | undefined
  private readonly half: number
  /** The first and last bytes kept at the end. Without a gap, both are the whole output. */
  private ends: { readonly head: Buffer; readonly tail: Buffer } | undefined

  constructor(private readonly options: CaptureOptions) {
    this.half = Math.ceil(options.limit / 2) * maxBytesPerCharacter
  }

  /** Appends a copy of the chunk. */
  push(chunk: Buffer): void {
    this.total += chunk.length
    const room = 2 * this.half - this.headLength
    if (this.ring !== undefined) return this.append(chunk)
    this.head.push(chunk.length <= room ? Buffer.from(chunk) : chunk)
    this.headLength += chunk.length
    if (chunk.length > room) this.overflow()
  }

  /** Returns the text and closes the file, which stays if the text has a gap. */
  finish(): Captured {
    const { limit } = this.options
    if (this.ring === undefined) {
      if (this.total === 0) return { text: "" }
      const all = Buffer.concat(this.head, this.headLength)
      this.ends = { head: all, tail: all }
      const text = all.toString()
      if (text.length <= limit) return { text }
      this.overflow()
      this.close()
      return this.cut(TextCut.headOf(text, Math.ceil(limit / 2)), TextCut.tailOf(text, Math.floor(limit / 2)))
    }
    const tail = this.readTail(this.ring)
    this.close()
    const head = Buffer.concat(this.head, this.headLength)
    this.ends = { head, tail }
    return this.cut(
      TextCut.headOf(head.toString(), Math.ceil(limit / 2)),
      TextCut.tailOf(tail.toString(), Math.floor(limit / 2))
    )
  }

  /** Writes the whole output, which `finish` has returned as `text`, to a file too. */
  keep(text: string): Captured {
    this.overflow()
    this.close()
    const kept = { bytes: this.total, where: this.where }
    return this.path === undefined ? { text, kept } : { text, kept, file: this.path }
  }

  /** Returns a counter of lines in the text that `finish` has returned. */
  counter({ kept, text }: Captured): LineCounter {
    const { total } = this
    const { head, tail } = this.ends ?? { head: Buffer.alloc(0), tail: Buffer.alloc(0) }
    const gap = kept?.gap ?? { start: 0, end: 0 }
    const lines = Newlines.lines(Buffer.from(text))
    const before = Newlines.count(Buffer.from(text.slice(0, gap.start)))
    const behind = Newlines.lines(Buffer.from(text.slice(gap.end)))
    const [start, inTail] = [total - tail.length, Newlines.lines(tail)]
    const [headUpTo, tailUpTo] = [counting(head), counting(tail)]
    return (position) => {
      if (position >= total) return lines
      const left = inTail - tailUpTo(Math.max(0, position - start))
      if (position >= start && left <= behind) return lines - left
      const found = headUpTo(Math.min(position, head.length))
      // Within the gap, the lines before it and the line about it are complete.
      return found <= before ? found : lines - behind
    }
  }

  private close(): void {
    if (this.file === undefined) return
    Fs.closeSync(this.file.fd)
    this.file.settle()
    this.file = undefined
  }

  private cut(head: string, tail: string): Captured {
    // A byte that is not UTF-8 becomes a replacement character of three bytes.
    const left = Math.max(1, this.total - Buffer.byteLength(head) - Buffer.byteLength(tail))
    const before = head.endsWith("\n") ? head : `${head}\n`
    const text = `${before}${KeptOutput.gapLine(left, this.where)}`
    const gap = { start: head.length, end: text.length, bytes: left }
    const captured = { text: `${text}${tail}`, kept: { bytes: this.total, where: this.where, gap } }
    return this.path === undefined ? captured : { ...captured, file: this.path }
  }

  private get where(): string {
    if (this.path === undefined) return `not kept${this.cutFile === undefined ? "" : `: ${this.cutFile}`}`
    return this.cutFile === undefined
      ? `all of it: ${this.path}`
      : `the first ${this.written} bytes: ${this.path} (${this.cutFile})`
  }

  /** Sends further bytes to the ring, and to a file if there can be one. */
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
    this.intoRing(chunk)
    const { file } = this
    if (file === undefined) return
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
    this.close()
  }

  private intoRing(chunk: Buffer): void {
    this.ring ??= Buffer.allocUnsafe(this.half)
    const ring = this.ring
    const last = chunk.length > ring.length ? chunk.subarray(chunk.length - ring.length) : chunk
    const at = this.ringEnd % ring.length
    const first = Math.min(last.length, ring.length - at)
    last.copy(ring, at, 0, first)
    last.copy(ring, 0, first)
    // It only grows: its remainder is the position, and its size tells whether the ring was ever full.
    this.ringEnd += last.length
  }

  /** Returns the last bytes. */
  private readTail(ring: Buffer): Buffer {
    if (this.ringEnd <= ring.length) return ring.subarray(0, this.ringEnd)
    const at = this.ringEnd % ring.length
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)])
  }
}

/**
 * Returns the text of a command's streams, and the order of their lines if known. A stream that can't be shown whole
 * gets a file, even if its text is whole.
 *
 * @param limit the most characters shown of both streams together
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
