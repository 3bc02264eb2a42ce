/**
 * Splits a text that comes in parts into whole lines, and the line that is still open.
 *
 * @since 0.1.0
 */
import * as ForeignText from "../domain/ForeignText.js"

/** The most characters of the open line that are kept for showing its end. */
const most = 4000

/**
 * Returns a line of somebody else's text with nothing in it that a terminal obeys; tabs stay.
 *
 * @since 0.1.0
 */
export const harmless = (line: string): string =>
  line
    .split("\t")
    .map((part) => ForeignText.escape(part))
    .join("\t")

/**
 * A text that is being written.
 *
 * @since 0.1.0
 * @category models
 */
export class OpenLine {
  private parts: Array<string> = []
  private tail = ""

  /** Takes a part of the text; returns the lines that are whole with it. */
  push(part: string): ReadonlyArray<string> {
    const [first = "", ...others] = part.split("\n")
    this.parts.push(first)
    this.tail = (this.tail + first).slice(-most)
    const lines: Array<string> = []
    for (const next of others) {
      lines.push(this.take())
      this.parts = [next]
      this.tail = next.slice(-most)
    }
    return lines
  }

  /** Returns the open line, which ends here; none where there is none. */
  end(): ReadonlyArray<string> {
    return this.parts.every((part) => part === "") ? [] : [this.take()]
  }

  /** The end of the open line, as it can be shown now: half of a character waits for the other half. */
  get open(): string {
    return ForeignText.escape(this.tail.replace(/[\ud800-\udbff\r]$/, "").replaceAll("\t", "  "))
  }

  private take(): string {
    const line = this.parts.join("").replace(/\r$/, "")
    this.parts = []
    this.tail = ""
    return harmless(line)
  }
}
