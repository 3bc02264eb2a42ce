/**
 * A line of which the end has not come yet.
 *
 * @since 0.1.0
 */
import * as Visible from "./Read.visible.js"

/** The most characters (Unicode code points) of a line that is cut. */
const longest = 2000

/** The most UTF-16 units that are kept of a line that is cut; they hold `longest` characters in any case. */
const longestHead = longest * 2

/**
 * Collects the parts of one line after the other. The CR of a CRLF is no part of the line.
 *
 * @since 0.1.0
 */
export class UnendedLine {
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
    const marked = Visible.markInvisible(line)
    this.hasInvisible ||= marked !== line
    return Visible.picture(marked)
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
