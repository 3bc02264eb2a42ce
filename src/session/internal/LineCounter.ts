/** Counts the lines of a captured stream's text up to a byte of the stream. */

const newline = 0x0a

/**
 * The bytes that are kept of a stream, and the numbers of lines of its text. Where nothing was left out, `tail` holds all.
 */
export interface Counted {
  /** The number of bytes that came. */
  readonly total: number
  /** The first bytes, and the last ones. */
  readonly head: Buffer
  readonly tail: Buffer
  /** The lines of the text: all of them, those before the gap and those behind it. */
  readonly lines: number
  readonly before: number
  readonly behind: number
}

/** Counts the lines in bytes; what stands at their end without a newline is none. */
const countIn = (bytes: Buffer, from: number, to: number): number => {
  let count = 0
  for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1)) count++
  return count
}

/** Returns the number of lines of a text; what stands at its end without a newline is a line too. */
export const linesIn = (text: string): number => {
  let count = text === "" || text.endsWith("\n") ? 0 : 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

/** Counts from byte to byte, in rising order. */
export class LineCounter {
  private readonly start: number
  private inHead = 0
  private headRead = 0
  private inTail: number
  private tailRead = 0

  constructor(private readonly counted: Counted) {
    const { tail, total } = counted
    this.start = total - tail.length
    this.inTail = countIn(tail, 0, tail.length) + (tail.length > 0 && tail.at(-1) !== newline ? 1 : 0)
  }

  /** Returns the number of the text's lines that are complete with so many bytes of the stream. */
  upTo(position: number): number {
    const { before, behind, head, lines, tail, total } = this.counted
    if (position >= total) return lines
    if (position >= this.start) {
      const end = position - this.start
      this.inTail -= countIn(tail, this.tailRead, end)
      this.tailRead = end
      if (this.inTail <= behind) return lines - this.inTail
    }
    const end = Math.min(position, head.length)
    this.inHead += countIn(head, this.headRead, end)
    this.headRead = Math.max(this.headRead, end)
    // In the gap, the lines before it and the one that tells of it are complete.
    return this.inHead <= before ? this.inHead : lines - behind
  }
}
