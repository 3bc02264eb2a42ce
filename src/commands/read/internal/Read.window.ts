/**
 * Shows a window of a file's lines from its bytes as they come, numbered as `cat -n` does. Holds only output that was
 * not yet taken, and the incomplete line.
 */
import { StringDecoder } from "node:string_decoder"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import * as Encoding from "../../../files/Encoding.js"
import * as FileType from "../../../files/FileType.js"
import * as Newlines from "../../../files/Newlines.js"

/**
 * Replaces the invisible characters of a line by their numbers, as `<U+200B>`. Joiners within emoji and between letters
 * stay.
 */
export const markInvisible = (line: string): string => UntrustedText.replaceInvisible(line, numbered)

const numbered = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`

/** Replaces control characters by pictures, because a CR could hide the text before it. */
const picture = (line: string): string =>
  line.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
  })

/** The most characters (Unicode code points) shown of a line. */
const longest = 2000

/** The most UTF-16 units kept of a line that is cut, enough for `longest` characters. */
const longestHead = longest * 2

const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Counts the characters from an index on. A surrogate pair counts as one. */
const characters = (text: string, start: number): number => {
  let count = 0
  for (let at = start; at < text.length; at++) if (!isLowSurrogate(text.charCodeAt(at))) count++
  return count
}

const cut = (text: string, left: number): string => {
  let end = 0
  for (let count = 0; count < longest && end < text.length; count++) {
    end += isLowSurrogate(text.charCodeAt(end + 1)) ? 2 : 1
  }
  const more = characters(text, end) + left
  return more === 0 ? text : `${text.slice(0, end)}… [${more} more characters]`
}

/** The number of bytes, at the beginning of the file and of the window, that decide whether the file is binary. */
const examined = 8 * 1024

/**
 * Tests whether more than 1 in 25 characters is invalid UTF-8, and as many are control characters. No text encoding has
 * both.
 */
const isNoise = (text: string): boolean =>
  [/\ufffd/g, /[\x01-\x08\x0e-\x1a\x1c-\x1f]/g].every(
    (pattern) => (text.match(pattern)?.length ?? 0) > Math.max(3, text.length / 25)
  )

export interface WindowOptions {
  readonly offset: number
  /** How many of these lines were already skipped and do not come. */
  readonly skipped: number
  readonly limit: number
  /** The most characters to show, in whole lines, with long lines cut. Undefined to show all of every line. */
  readonly room: number | undefined
  /** True to show one line even without room for it. */
  readonly showsOne: boolean
}

/** Numbers the lines of a window, as the bytes of the file come. */
export class LineWindow {
  isBinary = false
  /** True if something follows the window's last line. */
  hasMore = false
  /** True if there was no room for the next line. */
  isFull = false
  readonly letters = new Encoding.Letters()
  hasCarriageReturns = false
  /** True if the output marks invisible characters. */
  hasInvisible = false
  /** The number of the last line in the output. */
  line: number

  private readonly decoder = new StringDecoder("utf8")
  /** The first bytes of the file, until its type can be told. */
  private start: Buffer | undefined
  private mayHaveMark: boolean
  private toSkip: number
  private toShow: number
  private room: number
  private seen = 0
  private shown = 0
  /** The incomplete line: its beginning, the number of characters cut from it, and a CR at its end. */
  private head = ""
  private left = 0
  private held = ""
  /** True once the number of the incomplete line is put out. */
  private isNumbered = false
  private output = ""

  constructor(private readonly options: WindowOptions) {
    const { limit, offset, room = Number.POSITIVE_INFINITY, skipped } = options
    this.line = offset
    this.start = skipped === 0 ? Buffer.alloc(0) : undefined
    this.mayHaveMark = offset === 0
    this.toSkip = offset - skipped
    this.toShow = limit
    this.room = room
  }

  get isDone(): boolean {
    return this.hasMore || this.isBinary
  }

  push(chunk: Uint8Array): void {
    if (this.start === undefined) return this.pass(chunk)
    this.start = Buffer.concat([this.start, chunk])
    if (this.start.length >= FileType.needed) this.begin()
  }

  /** Ends the last line. No bytes may follow. */
  end(): void {
    this.begin()
    if (this.isDone) return
    this.show(this.decoder.end())
    const isBegun = this.isNumbered || this.head !== "" || this.held !== ""
    if (isBegun && !this.isDone) this.endLine(false)
  }

  take(): string {
    const { output } = this
    this.output = ""
    return output
  }

  private begin(): void {
    const { start } = this
    if (start === undefined) return
    this.start = undefined
    if (FileType.of(start) === undefined) this.pass(start)
    else this.isBinary = true
  }

  private pass(chunk: Uint8Array): void {
    if (this.seen < examined) this.examine(chunk.subarray(0, examined - this.seen))
    this.seen += chunk.length
    const { index, skipped } = Newlines.skip(chunk, this.toSkip)
    this.toSkip -= skipped
    if (this.toSkip > 0) return
    const rest = chunk.subarray(index)
    if (this.shown < examined) this.examine(rest.subarray(0, examined - this.shown))
    this.shown += rest.length
    if (this.isDone || rest.length === 0) return
    this.show(this.decoder.write(Buffer.from(rest.buffer, rest.byteOffset, rest.length)))
    // There is more, even if the decoder still holds all of it.
    if (this.toShow === 0 && rest[rest.length - 1] !== 0x0a) this.hasMore = true
  }

  private examine(bytes: Uint8Array): void {
    if (bytes.includes(0) || isNoise(Buffer.from(bytes).toString())) this.isBinary = true
  }

  private show(text: string): void {
    if (text === "") return
    this.letters.add(text)
    const hasMark = this.mayHaveMark && text.startsWith("\ufeff")
    this.mayHaveMark = false
    for (let at = hasMark ? 1 : 0; at < text.length && !this.hasMore; ) {
      if (this.toShow === 0) {
        this.hasMore = true
        return
      }
      const end = text.indexOf("\n", at)
      const part = this.held + text.slice(at, end < 0 ? undefined : end)
      this.held = part.endsWith("\r") ? "\r" : ""
      this.extend(part.slice(0, part.length - this.held.length))
      if (end < 0) return
      this.endLine(true)
      at = end + 1
    }
  }

  /**
   * Takes a part of a line. A line that may be cut is kept. Others are put out at once, since they may be as long as
   * the file.
   */
  private extend(part: string): void {
    if (part === "") return
    if (this.options.room === undefined) {
      this.output += this.number() + part
      return
    }
    const space = Math.max(longestHead - this.head.length, 0)
    this.head += part.slice(0, space)
    this.left += characters(part, space)
  }

  private endLine(isTerminated: boolean): void {
    if (isTerminated) this.hasCarriageReturns ||= this.held !== ""
    else this.extend(this.held)
    const line = this.head.length > longest ? cut(this.head, this.left) : this.head
    const marked = markInvisible(line)
    this.hasInvisible ||= marked !== line
    const text = `${this.number()}${picture(marked)}\n`
    const isFirst = this.line === this.options.offset
    this.isNumbered = false
    this.head = ""
    this.left = 0
    this.held = ""
    if (text.length > this.room && !(isFirst && this.options.showsOne)) {
      this.isFull = true
      this.hasMore = true
      return
    }
    this.room -= text.length
    this.output += text
    this.line++
    this.toShow--
  }

  /** Returns the number of the incomplete line, once. */
  private number(): string {
    if (this.isNumbered) return ""
    this.isNumbered = true
    return `${String(this.line + 1).padStart(6)}\t`
  }
}
