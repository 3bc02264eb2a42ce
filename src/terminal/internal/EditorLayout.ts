/** The rows of a terminal that a prompt and a text take. */
import stringWidth from "string-width"
import * as ForeignText from "../../domain/ForeignText.js"
import type { EditedText } from "./EditedText.js"

/**
 * One or more columns, and the text in them. Styles before it, and those after the last one of a prompt, are a part of it.
 */
export interface Cell {
  readonly text: string
  readonly width: number
}

/** The visible rows and the cursor's position in them. */
export interface Frame {
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  readonly row: number
  readonly column: number
}

export interface Shown {
  readonly prompt: string
  readonly next: string
  readonly edited: EditedText
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const ascii = /^[\x20-\x7e]*$/
const tabStop = 8

class Rows {
  readonly rows: Array<Array<Cell>> = [[]]
  column = 0

  constructor(private readonly columns: number) {}

  get row(): number {
    return this.rows.length - 1
  }

  wrap(width = 1): void {
    if (this.column + width > this.columns && this.column > 0) this.newline()
  }

  newline(): void {
    this.rows.push([])
    this.column = 0
  }

  put(text: string, width: number): void {
    if (width > 0) this.wrap(width)
    this.rows.at(-1)?.push({ text, width })
    this.column += width
  }

  prompt(prompt: string): void {
    for (const part of prompt.split(/(\x1b\[[\d;:]*m)/)) {
      if (part.startsWith("\x1b")) this.put(part, 0)
      else for (const { segment } of graphemes.segment(part)) this.grapheme(segment)
    }
  }

  grapheme(segment: string): void {
    if (segment === "\t") {
      const width = Math.min(tabStop - (this.column % tabStop), this.columns - this.column)
      return this.put(" ".repeat(Math.max(width, 1)), Math.max(width, 1))
    }
    const shown = visible(segment)
    const width = stringWidth(shown)
    if (shown === segment && width > 0) return this.put(shown, width)
    // A character without width, such as a lone accent, is shown by its number.
    for (const character of width === 0 ? Array.from(segment, ForeignText.escaped).join("") : shown) {
      this.put(character, stringWidth(character))
    }
  }
}

const visible = (segment: string): string =>
  ForeignText.replaceInvisible(segment, ForeignText.escaped).replace(/[\p{Cc}\p{Cs}]/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 32 || code === 127 ? `^${String.fromCharCode(code ^ 64)}` : ForeignText.escaped(character)
  })

/** Lays out a prompt and a text. If there are too few rows, those around the cursor are shown. */
export const layout = (shown: Shown, size: { readonly columns: number; readonly rows: number }): Frame => {
  const { edited, next, prompt } = shown
  const columns = Math.max(size.columns, 2)
  const rows = new Rows(columns)
  let cursor: { row: number; column: number } | undefined
  let at = 0
  for (const [number, line] of edited.text.split("\n").entries()) {
    if (number > 0) rows.newline()
    rows.prompt(number === 0 ? prompt : next)
    const parts = ascii.test(line) ? line : Array.from(graphemes.segment(line), ({ segment }) => segment)
    for (const part of parts) {
      const from = { row: rows.row, column: rows.column }
      const cells = rows.rows.at(-1)?.length ?? 0
      if (ascii.test(part)) rows.put(part, 1)
      else rows.grapheme(part)
      // The cell may have gone to the next row.
      if (cursor === undefined && edited.place < at + part.length) {
        cursor = (rows.rows[from.row]?.length ?? 0) > cells ? from : { row: from.row + 1, column: 0 }
      }
      at += part.length
    }
    rows.wrap()
    if (cursor === undefined && edited.place <= at) cursor = { row: rows.row, column: rows.column }
    at += 1
  }
  return around(rows.rows, cursor ?? { row: rows.row, column: rows.column }, Math.max(size.rows, 1))
}

const around = (
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  { column, row }: { readonly row: number; readonly column: number },
  most: number
): Frame => {
  const top = Math.max(0, Math.min(row - (most >> 1), rows.length - most))
  return { rows: rows.slice(top, top + most), row: row - top, column }
}

export const widthOf = (cells: ReadonlyArray<Cell>): number => cells.reduce((sum, { width }) => sum + width, 0)
