/**
 * Finds bytes in bytes that come in chunks, and replaces them, in time proportional to the file, whatever is looked for
 * (the algorithm of Knuth, Morris and Pratt). Node's own `indexOf` takes two minutes to find a long run of `a` in 100 MB
 * of `a`. All work is done in slices.
 */
import * as ShellText from "../../../bash/ShellText.js"
import type { Steps } from "../../../domain/Slices.js"
import * as Newlines from "../../../files/Newlines.js"

/** The number of bytes between two places where work may rest. */
export const stride = 256 * 1024

/** Encodes a word into its bytes. */
export function* encode(text: string): Steps<Buffer> {
  const pieces: Array<Buffer> = []
  for (const piece of ShellText.encodePieces(text, stride)) {
    if (pieces.length > 0) yield
    pieces.push(piece)
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

/** Returns, for each prefix of the pattern, the length of the longest shorter prefix that it ends in. */
export function* prefixTable(pattern: Uint8Array): Steps<Int32Array> {
  const table = new Int32Array(pattern.length)
  for (let from = 1, length = 0; from < pattern.length; from += stride) {
    const end = Math.min(from + stride, pattern.length)
    for (let at = from; at < end; at++) {
      while (length > 0 && pattern[length] !== pattern[at]) length = table[length - 1] as number
      if (pattern[length] === pattern[at]) length++
      table[at] = length
    }
    if (end < pattern.length) yield
  }
  return table
}

/** A pattern of bytes, prepared to be found. */
export interface Pattern {
  readonly bytes: Uint8Array
  readonly table: Int32Array
}

/**
 * Prepares a text to be found.
 *
 * @param text not empty
 */
export function* prepare(text: string): Steps<Pattern> {
  const bytes = yield* encode(text)
  return { bytes, table: yield* prefixTable(bytes) }
}

/** Finds the occurrences of a pattern from the left and without overlaps, also across the ends of chunks. */
class Finder {
  /** The number of bytes, at the end of what has come, that may begin an occurrence. */
  held = 0

  constructor(readonly pattern: Pattern) {}

  /** Returns the index behind the first occurrence that ends behind `start`; -1 where none ends in these bytes. */
  next(bytes: Uint8Array, start: number): number {
    const { bytes: pattern, table } = this.pattern
    const first = pattern[0]
    const whole = pattern.length
    let length = this.held
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]
      while (length > 0 && pattern[length] !== byte) length = table[length - 1] as number
      if (length === 0) {
        while (at < bytes.length && bytes[at] !== first) at++
        if (at === bytes.length) break
      }
      if (++length === whole) {
        this.held = 0
        return at + 1
      }
    }
    this.held = length
    return -1
  }
}

/** Yields parts of a chunk that take about a millisecond each. */
function* strides(chunk: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += stride) yield chunk.subarray(at, at + stride)
}

/** The most occurrences whose lines are known. */
const mostLines = 11

/** Counts the occurrences of a pattern in a file, and finds the lines of the first ones. */
export class Occurrences {
  count = 0
  /** The index of the first one; -1 where there is none. */
  first = -1
  /** The numbers of the lines where the first ones begin. */
  readonly lines: Array<number> = []
  /** The number of bytes that have come. */
  size = 0
  /** The number of the line that the bytes up to here end in. */
  private line = 1
  private sinceRest = 0
  private readonly finder: Finder
  private readonly newlines: number

  constructor(readonly pattern: Pattern) {
    this.finder = new Finder(pattern)
    this.newlines = Newlines.count(pattern.bytes)
  }

  /** Takes the next bytes of the file. */
  *push(chunk: Uint8Array): Steps<void> {
    for (const part of strides(chunk)) {
      let counted = 0
      for (let end = this.finder.next(part, 0); end >= 0; end = this.finder.next(part, end)) {
        this.count++
        if (this.first < 0) this.first = this.size + end - this.pattern.bytes.length
        if (this.lines.length === mostLines) continue
        this.line += Newlines.count(part.subarray(counted, end))
        counted = end
        this.lines.push(this.line - this.newlines)
      }
      if (this.lines.length < mostLines) this.line += Newlines.count(part.subarray(counted))
      this.size += part.length
      this.sinceRest += part.length
      if (this.sinceRest < stride) continue
      this.sinceRest = 0
      yield
    }
  }

  /** Tests whether another reading of the file found the same. */
  isLike({ count, first, size }: Occurrences): boolean {
    return this.count === count && this.first === first && this.size === size
  }
}

/**
 * The number of bytes of a packet, for sending.
 */
const largestPacket = 256 * 1024

/**
 * Replaces a pattern's first occurrence, or all of them, in a file that comes in chunks. It yields packets of a size
 * for sending, and undefined where it may rest.
 */
export class Replacer {
  private readonly finder: Finder
  private packet: Buffer
  private used = 0
  private sinceRest = 0
  private isDone = false

  constructor(
    private readonly pattern: Pattern,
    private readonly replacement: Uint8Array,
    private readonly all: boolean,
    private readonly packetSize = largestPacket
  ) {
    this.finder = new Finder(pattern)
    this.packet = Buffer.allocUnsafeSlow(packetSize)
  }

  /** Takes the next bytes of the file. */
  *push(chunk: Uint8Array): Generator<Uint8Array | undefined, void> {
    for (const part of strides(chunk)) {
      yield* this.isDone ? this.put(part, 0, part.length) : this.replace(part)
      this.sinceRest += part.length
      if (this.sinceRest < stride) continue
      this.sinceRest = 0
      yield undefined
    }
  }

  /** Ends the file. */
  *end(): Generator<Uint8Array | undefined, void> {
    yield* this.put(this.pattern.bytes, 0, this.finder.held)
    if (this.used > 0) yield this.packet.subarray(0, this.used)
    this.used = 0
  }

  private *replace(part: Uint8Array): Generator<Uint8Array | undefined, void> {
    const { finder, replacement } = this
    const { bytes: pattern } = this.pattern
    // The bytes before the part that were held back, as the beginning of the pattern.
    const before = finder.held
    let from = -before
    for (let end = finder.next(part, 0); end >= 0; end = this.isDone ? -1 : finder.next(part, end)) {
      const start = end - pattern.length
      if (from < 0) yield* this.put(pattern, from + before, Math.min(start, 0) + before)
      const rest = Math.max(from, 0)
      if (start > rest && !this.fits(part, rest, start)) yield* this.put(part, rest, start)
      if (!this.fits(replacement, 0, replacement.length)) yield* this.put(replacement, 0, replacement.length)
      from = end
      this.isDone = !this.all
    }
    const kept = part.length - finder.held
    if (from < 0) yield* this.put(pattern, from + before, Math.min(kept, 0) + before)
    if (kept > 0) yield* this.put(part, Math.max(from, 0), kept)
  }

  /** Puts bytes into the packet where that does not fill it; a generator takes longer to make than a few bytes to copy. */
  private fits(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.used + end - start >= this.packetSize) return false
    copy(bytes, start, end, this.packet, this.used)
    this.used += end - start
    return true
  }

  private *put(bytes: Uint8Array, start: number, end: number): Generator<Uint8Array | undefined, void> {
    for (let at = start; at < end; ) {
      const taken = Math.min(end - at, this.packetSize - this.used)
      copy(bytes, at, at + taken, this.packet, this.used)
      at += taken
      this.used += taken
      if (this.used < this.packetSize) continue
      yield this.packet
      this.packet = Buffer.allocUnsafeSlow(this.packetSize)
      this.used = 0
    }
  }
}

const copy = (source: Uint8Array, start: number, end: number, target: Uint8Array, to: number): void => {
  // A view of a few bytes takes longer to make than to copy.
  if (end - start > 64) target.set(source.subarray(start, end), to)
  else for (let at = start; at < end; at++) target[to + at - start] = source[at] as number
}
