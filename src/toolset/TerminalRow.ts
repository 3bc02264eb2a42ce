/**
 * One line of a terminal, in which later text may overwrite earlier text. It has no right edge.
 *
 * @since 0.1.0
 */

/**
 * The column at which a cursor movement ends at the latest, as at the right edge of a terminal.
 *
 * @since 0.1.0
 */
export const lastColumn = 200

const zeroWidth = /^[\p{Mark}\u200b-\u200d\ufeff]$/u
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u

const widthOf = (character: string): number =>
  character < "\u0300" ? 1 : zeroWidth.test(character) ? 0 : doubleWidth.test(character) ? 2 : 1

/**
 * A line that is written. As long as all text comes at its end, it is kept as it is.
 *
 * @since 0.1.0
 * @category models
 */
export class TerminalRow {
  private plain = ""
  /**
   * The columns, once something was overwritten. A wide character or a tab stands in its first column; the others that it
   * takes are empty.
   */
  private cells: Array<string> | undefined

  /** Writes text at a column, or at the end where that is undefined; returns the column after it. */
  write(text: string, column: number | undefined): number | undefined {
    if (this.cells === undefined && (column === undefined || (column === 0 && this.plain === ""))) {
      this.plain += text
      return undefined
    }
    const cells = this.toCells()
    let at = column ?? cells.length
    for (const character of text) at = character === "\t" ? this.tab(cells, at) : this.put(cells, at, character)
    return at
  }

  /** Returns the column at its end. */
  get end(): number {
    return this.toCells().length
  }

  /** Erases from a column to the end. */
  eraseFrom(column: number): void {
    if (column === 0) {
      this.plain = ""
      this.cells = undefined
      return
    }
    const cells = this.toCells()
    if (column >= cells.length) return
    this.blank(cells, column)
    cells.length = column
  }

  /** Erases from the beginning up to and with a column. */
  eraseTo(column: number): void {
    const cells = this.toCells()
    const last = Math.min(column, cells.length - 1, lastColumn)
    for (let at = 0; at <= last; at++) this.blank(cells, at)
  }

  toString(): string {
    if (this.cells === undefined) return this.plain
    let end = this.cells.length
    while (end > 0 && this.cells[end - 1] === " ") end--
    return this.cells.slice(0, end).join("")
  }

  private toCells(): Array<string> {
    if (this.cells !== undefined) return this.cells
    const cells: Array<string> = []
    this.cells = cells
    let at = 0
    for (const character of this.plain) at = character === "\t" ? this.tab(cells, at) : this.put(cells, at, character)
    this.plain = ""
    return cells
  }

  private put(cells: Array<string>, at: number, character: string): number {
    const width = widthOf(character)
    if (width === 0) {
      let before = Math.min(at, cells.length) - 1
      while (cells[before] === "") before--
      if (before >= 0) cells[before] += character
      return at
    }
    while (cells.length < at) cells.push(" ")
    this.blank(cells, at)
    cells[at] = character
    if (width === 1) return at + 1
    this.blank(cells, at + 1)
    cells[at + 1] = ""
    return at + 2
  }

  /** Moves to the next tab stop; the tab itself is kept where nothing is there yet. */
  private tab(cells: Array<string>, at: number): number {
    const next = at - (at % 8) + 8
    if (cells.length > at) return next
    while (cells.length < at) cells.push(" ")
    cells.push("\t")
    while (cells.length < next) cells.push("")
    return next
  }

  /** Makes a column blank, and with it the others that its character takes. */
  private blank(cells: Array<string>, at: number): void {
    if (at >= cells.length) return
    let first = at
    while (first > 0 && cells[first] === "") first--
    for (let next = first; next === first || cells[next] === ""; next++) cells[next] = " "
  }
}
