/**
 * Puts the lines of two streams in the order in which they came. A line is never split: it stands where its last byte
 * came.
 *
 * @since 0.1.0
 */
import type { LineOrder, StreamName } from "../domain/LineOrder.js"

/**
 * The lines of a stream that are shown: its first ones, the line that tells of a gap (or nothing), and its last ones.
 *
 * @since 0.1.0
 * @category models
 */
export interface Part {
  readonly head: string
  readonly mark: string
  readonly tail: string
}

/**
 * Counts the newlines of a text.
 *
 * @since 0.1.0
 */
export const newlinesIn = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

/** Splits a text behind its newlines. */
const linesOf = (text: string): Array<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The lines of a stream that are shown, and the number in the stream of each. */
class Lines {
  private readonly lines: Array<string>
  private readonly inHead: number
  /** The difference between the number of a line behind the gap and its index. */
  private readonly skipped: number
  private at = 0

  /** `newlines` is the number of them in the stream's text. */
  constructor({ head, mark, tail }: Part, newlines: number) {
    const first = linesOf(head)
    if (mark === "") {
      this.lines = first
      this.inHead = first.length
      this.skipped = 0
      return
    }
    // A line that the gap interrupts stands with the mark.
    const half = head === "" || head.endsWith("\n") ? "" : `${first.pop()}\n`
    this.inHead = first.length
    this.lines = [...first, `${half}${mark}`, ...linesOf(tail)]
    this.skipped = newlines - newlinesIn(tail) - this.inHead - 1
  }

  /** Takes the lines up to a number, or all that are left. */
  take(upTo: number): string {
    const start = this.at
    while (this.at < this.lines.length && this.numberOf(this.at) <= upTo) this.at++
    return this.lines.slice(start, this.at).join("")
  }

  private numberOf(index: number): number {
    return index + 1 + (index > this.inHead ? this.skipped : 0)
  }
}

/**
 * Joins what is shown of both streams.
 *
 * @param texts the streams' texts, of whose lines the order is known
 * @since 0.1.0
 * @category combinators
 */
export const of = (
  parts: Readonly<Record<StreamName, Part>>,
  texts: Readonly<Record<StreamName, string>>,
  order: LineOrder
): string => {
  const stdout = new Lines(parts.stdout, newlinesIn(texts.stdout))
  const stderr = new Lines(parts.stderr, newlinesIn(texts.stderr))
  const lines = { stdout, stderr }
  const counts = { stdout: 0, stderr: 0 }
  const taken: Array<string> = []
  const add = (text: string) => {
    if (text === "") return
    const last = taken.at(-1)
    // Only the end of a stream has no newline.
    if (last !== undefined && !last.endsWith("\n")) taken.push("\n")
    taken.push(text)
  }
  for (const [stream, count] of order) {
    counts[stream] += count
    add(lines[stream].take(counts[stream]))
  }
  add(stdout.take(Number.POSITIVE_INFINITY))
  add(stderr.take(Number.POSITIVE_INFINITY))
  return taken.join("")
}
