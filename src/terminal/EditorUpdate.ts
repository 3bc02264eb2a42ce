/**
 * The control sequences that turn one frame on a terminal into another.
 *
 * @since 0.1.0
 */
import * as Columns from "./Columns.js"
import { type Cell, type Frame, widthOf } from "./EditorLayout.js"
import type { Reflow } from "./Reflow.js"

/** Matches the graphemes about whose width terminals agree: one character, and no emoji. */
const certain = /^(?:[\x20-\x7e]|[^\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{M}])$/u

const sameCell = (one: Cell | undefined, other: Cell | undefined): boolean =>
  one?.text === other?.text && one?.width === other?.width

class Writer {
  text = ""
  constructor(
    private row: number,
    private column: number,
    /** The number of rows that the terminal has below the first one. */
    private rows: number
  ) {}

  goTo(row: number, column: number): void {
    const last = Math.min(row, this.rows - 1)
    if (last < this.row) this.text += `\x1b[${this.row - last}A`
    if (last > this.row) this.text += `\x1b[${last - this.row}B`
    this.row = last
    for (; this.row < row; this.row++) {
      this.text += "\r\n"
      this.column = 0
      this.rows++
    }
    if (column === this.column) return
    this.text += column === 0 ? "\r" : column === this.column - 1 ? "\b" : `\x1b[${column + 1}G`
    this.column = column
  }

  cells(cells: ReadonlyArray<Cell>, columns: number): void {
    for (const { text, width } of cells) {
      this.text += text
      this.column += width
      if (width > 0 && !certain.test(text) && this.column < columns) this.text += `\x1b[${this.column + 1}G`
    }
    // Behind the last column, terminals differ about where the cursor is.
    if (this.column >= columns) this.column = -1
  }
}

/**
 * Returns what to write, so that a terminal that shows one frame shows another. Without one, the cursor stands at the
 * beginning of an empty row, below which nothing is.
 *
 * @since 0.1.0
 */
export const between = (shown: Frame | undefined, next: Frame, columns: number): string => {
  const before = shown ?? { rows: [[]], row: 0, column: 0 }
  const writer = new Writer(before.row, before.column, before.rows.length)
  next.rows.forEach((cells, row) => {
    const old = before.rows[row]
    let same = 0
    while (same < cells.length && sameCell(cells[same], old?.[same])) same++
    if (old !== undefined && same === cells.length && same === old.length) return
    // A style in the cells that are the same would be lost.
    if (cells.slice(0, same).some(({ width }) => width === 0) && cells.slice(same).some(({ width }) => width === 0)) {
      same = 0
    }
    writer.goTo(row, widthOf(cells.slice(0, same)))
    writer.cells(cells.slice(same), columns)
    if (old !== undefined && widthOf(old) > widthOf(cells)) writer.text += "\x1b[K"
  })
  if (before.rows.length > next.rows.length) {
    writer.goTo(next.rows.length, 0)
    writer.text += "\x1b[J"
  }
  writer.goTo(next.row, next.column)
  return writer.text
}

/**
 * Returns what to write, so that nothing of a frame is left on a terminal whose width has changed, and the cursor stands
 * at the beginning of its first row.
 *
 * @param reflow the rows that the terminal has broken where it has become narrower
 * @since 0.1.0
 */
export const erased = ({ column, row, rows }: Frame, columns: number, reflow: Reflow = "all"): string => {
  const rowsOf = (cells: ReadonlyArray<Cell>) =>
    Columns.rowsOfWidths(
      cells.map(({ width }) => width),
      columns
    )
  const broken = reflow === "none" ? row : rows.slice(0, row).reduce((sum, cells) => sum + rowsOf(cells), 0)
  const before = (rows[row] ?? []).filter((_, at, cells) => widthOf(cells.slice(0, at + 1)) <= column)
  const up = broken + (reflow === "all" ? rowsOf(before) - 1 : 0)
  return `${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`
}
