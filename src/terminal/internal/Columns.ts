/** Measures texts in columns of a terminal, and cuts them, by what a reader takes for one character. */
import stringWidth from "string-width"

const segmenter = new Intl.Segmenter()
const ascii = /^[\x20-\x7e]*$/

/** Returns the columns that a text without control characters takes. */
export const of = (text: string): number => (ascii.test(text) ? text.length : stringWidth(text))

/** Returns the most columns that a terminal may give to one character: some draw the parts of an emoji side by side. */
const mostOf = (character: string): number => {
  if (ascii.test(character)) return character.length
  const parts = Array.from(character)
  const apart = parts.length === 1 ? 0 : parts.reduce((sum, part) => sum + stringWidth(part), 0)
  return Math.max(stringWidth(character), apart)
}

/** Returns the longest start of a text that fits into so many columns. */
const startOf = (text: string, columns: number): string => {
  if (ascii.test(text)) return text.slice(0, columns)
  let width = 0
  let end = 0
  for (const { index, segment } of segmenter.segment(text)) {
    width += mostOf(segment)
    if (width > columns) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** Cuts a text to so many columns; where something is left out, it ends in `...`. */
export const cut = (text: string, columns: number): string => {
  if (columns === Number.POSITIVE_INFINITY) return text
  if (ascii.test(text) ? text.length <= columns : startOf(text, columns) === text) return text
  return columns <= 3 ? startOf(text, columns) : `${startOf(text, columns - 3).trimEnd()}...`
}

/** Splits a text into rows of at most so many columns. */
export const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const rows: Array<string> = []
  for (let rest = text; ; ) {
    const row = startOf(rest, columns) || Array.from(rest)[0] || ""
    rows.push(row)
    rest = rest.slice(row.length)
    if (rest === "") return rows
  }
}

/**
 * Returns the rows that characters of these widths take on a terminal of so many columns: none stands in two of them, so
 * that a wide one may leave the last column of a row empty.
 */
export const rowsOfWidths = (widths: Iterable<number>, columns: number): number => {
  let rows = 1
  let column = 0
  for (const width of widths) {
    if (column > 0 && column + width > columns) {
      rows++
      column = 0
    }
    column += width
  }
  return rows
}

/** Returns the rows that a line takes on a terminal of so many columns. */
export const rowsOf = (text: string, columns: number): number =>
  ascii.test(text)
    ? Math.max(1, Math.ceil(text.length / columns))
    : rowsOfWidths(
        Array.from(segmenter.segment(text), ({ segment }) => of(segment)),
        columns
      )
