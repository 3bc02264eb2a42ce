/**
 * Shows a window of lines over the bytes of a file as they come, numbered as `cat -n` does. It holds only the output
 * that has not been taken, and of a line only the part that is shown.
 *
 * @since 0.1.0
 */
import { StringDecoder } from "node:string_decoder"
import * as Newlines from "../../files/Newlines.js"

/** The most characters (Unicode code points) of a line that are shown. */
const longestLine = 2000

/**
 * The number of bytes, at the beginning of the file and of the window, in which a NUL means that the file is binary.
 */
const examined = 8 * 1024

/** The most UTF-16 units that are kept of a line; they hold `longestLine` characters in any case. */
const longestHead = longestLine * 2

/**
 * Numbers the lines of a window, as the bytes of the file come.
 *
 * @since 0.1.0
 */
export class LineWindow {
  /** The kind of the file, where it is no text that can be shown. */
  binary: "binary" | "utf-16" | undefined
  /** True where something follows the window's last line. */
  hasMore = false
  /** True where a line ended in CRLF. */
  hasCarriageReturns = false
  /** The number of the last line in the output. */
  line: number

  private readonly decoder = new StringDecoder("utf8")
  private mayHaveMark: boolean
  private toSkip: number
  private toShow: number
  private seen = 0
  private shown = 0
  private head = ""
  private left = 0
  private lastOfLine = ""
  private output = ""

  /**
   * @param offset lines to skip
   * @param skipped lines that were skipped already and do not come
   * @param limit lines to show
   */
  constructor(offset: number, skipped: number, limit: number) {
    this.line = offset
    this.mayHaveMark = offset === 0
    this.toSkip = offset - skipped
    this.toShow = limit
  }

  /** True where no further bytes are needed. */
  get isDone(): boolean {
    return this.hasMore || this.binary !== undefined
  }

  /** The number of characters that `take` returns. */
  get size(): number {
    return this.output.length
  }

  push(chunk: Uint8Array): void {
    if (this.seen < examined) this.examine(chunk.subarray(0, examined - this.seen), this.seen === 0)
    this.seen += chunk.length
    const { index, skipped } = Newlines.skip(chunk, this.toSkip)
    this.toSkip -= skipped
    if (this.toSkip > 0) return
    const rest = chunk.subarray(index)
    if (this.shown < examined) this.examine(rest.subarray(0, examined - this.shown), false)
    this.shown += rest.length
    if (this.isDone || rest.length === 0) return
    this.show(this.decoder.write(Buffer.from(rest.buffer, rest.byteOffset, rest.length)))
    // More follows, if only bytes that the decoder has kept back.
    if (this.toShow === 0 && rest[rest.length - 1] !== 0x0a) this.hasMore = true
  }

  /** Ends the last line; no bytes may follow. */
  end(): void {
    this.show(this.decoder.end())
    if (this.head !== "") this.endLine(false)
  }

  /** Takes the output. */
  take(): string {
    const { output } = this
    this.output = ""
    return output
  }

  private examine(bytes: Uint8Array, isStart: boolean): void {
    if (!bytes.includes(0)) return
    const mark = isStart ? ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0) : 0
    this.binary ??= mark === 0xfffe || mark === 0xfeff ? "utf-16" : "binary"
  }

  private show(text: string): void {
    if (text === "") return
    const hasMark = this.mayHaveMark && text.startsWith("\ufeff")
    this.mayHaveMark = false
    for (let at = hasMark ? 1 : 0; at < text.length; ) {
      if (this.toShow === 0) {
        this.hasMore = true
        return
      }
      const end = text.indexOf("\n", at)
      this.extend(end < 0 ? text.slice(at) : text.slice(at, end))
      if (end < 0) return
      this.endLine(true)
      at = end + 1
    }
  }

  private extend(part: string): void {
    const space = longestHead - this.head.length
    if (part.length > space) this.left += characters(part, Math.max(space, 0))
    if (space > 0) this.head += part.length > space ? part.slice(0, space) : part
    if (part !== "") this.lastOfLine = part.slice(-1)
  }

  private endLine(isTerminated: boolean): void {
    let text = this.head
    if (isTerminated && this.lastOfLine === "\r") {
      this.hasCarriageReturns = true
      if (this.left > 0) this.left--
      else text = text.slice(0, -1)
    }
    if (text.length > longestLine) text = cut(text, this.left)
    this.output += `${String(++this.line).padStart(6)}\t${text}\n`
    this.toShow--
    this.head = ""
    this.left = 0
    this.lastOfLine = ""
  }
}

const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Counts the characters from an index on; a low surrogate counts with its high one. */
const characters = (text: string, start: number): number => {
  let count = 0
  for (let at = start; at < text.length; at++) if (!isLowSurrogate(text.charCodeAt(at))) count++
  return count
}

const cut = (text: string, left: number): string => {
  let end = 0
  for (let count = 0; count < longestLine && end < text.length; count++) {
    end += isLowSurrogate(text.charCodeAt(end + 1)) ? 2 : 1
  }
  const more = characters(text, end) + left
  return more === 0 ? text : `${text.slice(0, end)}… [${more} more characters]`
}
