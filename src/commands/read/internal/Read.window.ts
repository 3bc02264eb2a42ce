/**
 * Shows a window of lines over the bytes of a file as they come, numbered as `cat -n` does. It holds only the output
 * that has not been taken, and the line that is not complete.
 */
import { StringDecoder } from "node:string_decoder"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as FileType from "../../../files/FileType.js"
import * as Newlines from "../../../files/Newlines.js"

/**
 * Replaces the invisible characters of a line by their numbers, as `<U+200B>`; returns the line itself where it has
 * none. A joiner in an emoji is none, nor one between letters that it joins.
 */
export const markInvisible = (line: string): string => ForeignText.replaceInvisible(line, numbered)

const numbered = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`

/** Replaces the control characters of a line by their pictures: a CR could hide what stands before it. */
const picture = (line: string): string =>
  line.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd"
  })

/** The most characters (Unicode code points) of a line that is cut. */
const longest = 2000

/** The most UTF-16 units that are kept of a line that is cut; they hold `longest` characters in any case. */
const longestHead = longest * 2

/** Collects the parts of one line after the other. The CR of a CRLF is no part of the line. */
class UnendedLine {
  /** True where some of the line has come. */
  isBegun = false
  /** True where the last character that has come is a CR. */
  hasReturn = false
  /** True where a line had invisible characters, which are marked in it. */
  hasInvisible = false
  private head = ""
  /** The number of characters behind the head. */
  private left = 0

  /** @param isCut true to keep the beginning of a long line, and a mark that says how much it leaves out */
  constructor(private readonly isCut: boolean) {}

  extend(part: string): void {
    if (part === "") return
    this.isBegun = true
    const text = this.hasReturn ? `\r${part}` : part
    this.hasReturn = text.endsWith("\r")
    this.add(this.hasReturn ? text.slice(0, -1) : text)
  }

  /** Takes what has come of a line that is not cut. */
  take(): string {
    const { head } = this
    this.head = ""
    return head
  }

  /** Ends the line, and returns what was not taken of it. */
  end(isTerminated: boolean): string {
    if (this.hasReturn && !isTerminated) this.add("\r")
    const { head, left } = this
    this.isBegun = false
    this.hasReturn = false
    this.head = ""
    this.left = 0
    if (!this.isCut) return head
    const line = head.length > longest ? cut(head, left) : head
    const marked = markInvisible(line)
    this.hasInvisible ||= marked !== line
    return picture(marked)
  }

  private add(text: string): void {
    const space = this.isCut ? Math.max(longestHead - this.head.length, 0) : text.length
    if (text.length > space) this.left += characters(text, space)
    if (space > 0) this.head += text.slice(0, space)
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
  for (let count = 0; count < longest && end < text.length; count++) {
    end += isLowSurrogate(text.charCodeAt(end + 1)) ? 2 : 1
  }
  const more = characters(text, end) + left
  return more === 0 ? text : `${text.slice(0, end)}… [${more} more characters]`
}

/**
 * The number of bytes, at the beginning of the file and of the window, in which a NUL means that the file is binary.
 */
const examined = 8 * 1024

export interface WindowOptions {
  /** The number of lines to skip. */
  readonly offset: number
  /** The number of these that were skipped already and do not come. */
  readonly skipped: number
  /** The most lines to show. */
  readonly limit: number
  /** The most characters to show, in whole lines that are cut where they are long; undefined for all of every line. */
  readonly room: number | undefined
  /** True to show one line even where there is no room for it. */
  readonly showsOne: boolean
}

/** Numbers the lines of a window, as the bytes of the file come. */
export class LineWindow {
  /** True where the file is no text that can be shown. */
  isBinary = false
  /** True where something follows the window's last line. */
  hasMore = false
  /** True where there was no room for the next line. */
  isFull = false
  /** True where bytes were no UTF-8, and where characters beside ASCII were. */
  hasWrongBytes = false
  hasLetters = false
  /** True where a line ended in CRLF. */
  hasCarriageReturns = false
  /** The number of the last line in the output. */
  line: number

  private readonly decoder = new StringDecoder("utf8")
  /** The first bytes of the file, until there are enough to tell its type. */
  private start: Buffer | undefined
  private mayHaveMark: boolean
  private toSkip: number
  private toShow: number
  private room: number
  private seen = 0
  private shown = 0
  private readonly unended: UnendedLine
  /** True once the number of that line is put out. */
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
    this.unended = new UnendedLine(options.room !== undefined)
  }

  /** True where no further bytes are needed. */
  get isDone(): boolean {
    return this.hasMore || this.isBinary
  }

  push(chunk: Uint8Array): void {
    if (this.start === undefined) return this.pass(chunk)
    this.start = Buffer.concat([this.start, chunk])
    if (this.start.length >= FileType.needed) this.begin()
  }

  /** Ends the last line; no bytes may follow. */
  end(): void {
    this.begin()
    if (this.isDone) return
    this.show(this.decoder.end())
    if (this.unended.isBegun && !this.isDone) this.endLine(false)
  }

  /** True where invisible characters are marked in the output. */
  get hasInvisible(): boolean {
    return this.unended.hasInvisible
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
    // More follows, if only bytes that the decoder has kept back.
    if (this.toShow === 0 && rest[rest.length - 1] !== 0x0a) this.hasMore = true
  }

  private examine(bytes: Uint8Array): void {
    if (bytes.includes(0)) this.isBinary = true
  }

  private show(text: string): void {
    if (text === "") return
    this.hasWrongBytes ||= text.includes("\ufffd")
    this.hasLetters ||= /[^\0-\x7f\ufffd]/.test(text)
    const hasMark = this.mayHaveMark && text.startsWith("\ufeff")
    this.mayHaveMark = false
    for (let at = hasMark ? 1 : 0; at < text.length && !this.hasMore; ) {
      if (this.toShow === 0) {
        this.hasMore = true
        return
      }
      const end = text.indexOf("\n", at)
      this.unended.extend(end < 0 ? text.slice(at) : text.slice(at, end))
      if (end < 0) return this.putUnended()
      this.endLine(true)
      at = end + 1
    }
  }

  private endLine(isTerminated: boolean): void {
    this.hasCarriageReturns ||= this.unended.hasReturn && isTerminated
    const text = `${this.number()}${this.unended.end(isTerminated)}\n`
    const isFirst = this.line === this.options.offset
    this.isNumbered = false
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

  /** Puts out what there is of a line that is not cut, since it may be as long as the file. */
  private putUnended(): void {
    if (this.options.room === undefined && this.unended.isBegun) this.output += this.number() + this.unended.take()
  }

  /** Returns the number of the line that is not complete, once. */
  private number(): string {
    if (this.isNumbered) return ""
    this.isNumbered = true
    return `${String(this.line + 1).padStart(6)}\t`
  }
}
