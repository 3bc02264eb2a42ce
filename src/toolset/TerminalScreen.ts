/**
 * A terminal of endless size: what is written, with what the cursor's movements overwrite and erase.
 *
 * @since 0.1.0
 */
import { lastColumn, TerminalRow } from "./TerminalRow.js"

/** The most lines that the cursor goes up, or down to a line that is not there yet: a terminal shows no more. */
const height = 60

/**
 * A screen and its cursor.
 *
 * @since 0.1.0
 * @category models
 */
export class TerminalScreen {
  private current = new TerminalRow()
  private rows = [this.current]
  private row = 0
  /** The cursor's column; undefined at the end of its line. */
  private column: number | undefined
  /** The first line of the screen that a program has cleared; what stands above it stays. */
  private top: number | undefined

  write(text: string): void {
    this.column = this.current.write(text, this.column)
  }

  newline(): void {
    this.goTo(this.row + 1)
    this.column = 0
  }

  /** Moves the cursor to a column, counted from 0. */
  toColumn(column: number): void {
    this.column = Math.max(0, Math.min(column, lastColumn))
  }

  /** Moves the cursor by columns, to the right for a positive number. */
  moveBy(columns: number): void {
    const at = this.column ?? this.current.end
    this.column = columns < 0 ? Math.max(0, at + columns) : Math.max(at, Math.min(at + columns, lastColumn))
  }

  /** Moves the cursor by lines, up for a negative number; not past the edges of the screen. */
  moveByRows(rows: number): void {
    this.column ??= this.current.end
    const first = Math.max(this.top ?? 0, this.rows.length - height)
    const last = Math.max(first + height, this.rows.length) - 1
    this.goTo(Math.max(Math.min(first, this.row), Math.min(this.row + rows, last)))
  }

  /** Moves the cursor to a place on the screen, counted from 0. */
  toPlace(row: number, column: number): void {
    this.goTo(this.begin() + Math.max(0, Math.min(row, height - 1)))
    this.toColumn(column)
  }

  /** Erases the line: from the cursor (0), up to the cursor (1), or all of it (2). */
  eraseLine(which: number): void {
    if (which === 1) this.current.eraseTo(this.column ?? this.current.end)
    else if (which === 2) {
      this.column = Math.min(this.column ?? this.current.end, lastColumn)
      this.current.eraseFrom(0)
    } else if (which === 0 && this.column !== undefined) this.current.eraseFrom(this.column)
  }

  /** Erases the screen: from the cursor (0), or all of it (2 or 3). */
  eraseScreen(which: number): void {
    if (which === 0) {
      this.eraseLine(0)
      this.rows.length = this.row + 1
    } else if (which === 2 || which === 3) {
      const top = this.begin()
      const row = Math.max(top, Math.min(this.row, top + height - 1))
      const column = this.row < top ? 0 : (this.column ?? this.current.end)
      this.rows.length = top
      this.goTo(row)
      this.toColumn(column)
    }
  }

  toString(): string {
    return this.rows.join("\n")
  }

  /** Returns the first line of the screen; the first time, that is the one below all that there is. */
  private begin(): number {
    if (this.top === undefined) {
      const last = this.rows.length - 1
      this.top = this.rows[last]?.toString() === "" ? last : last + 1
    }
    return this.top
  }

  private goTo(row: number): void {
    while (this.rows.length <= row) this.rows.push(new TerminalRow())
    this.row = row
    this.current = this.rows[row] as TerminalRow
  }
}
