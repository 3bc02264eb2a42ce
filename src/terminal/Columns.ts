/** Measures, cuts and wraps texts in columns of a terminal. */
import stringWidth from "string-width"

const segmenter = new Intl.Segmenter()
/** Texts whose every character is one column wide, with the signs that stand before steps. */
const plain = /^[\x20-\x7e•├└─✓✗]*$/

/** Returns the width of a text without control characters. */
export const of = (text: string): number => (plain.test(text) ? text.length : stringWidth(text))

/** Returns the largest possible width of a character, since some terminals draw the parts of an emoji side by side. */
const mostOf = (character: string): number => {
  if (plain.test(character)) return character.length
  const parts = Array.from(character)
  const apart = parts.length === 1 ? 0 : parts.reduce((sum, part) => sum + stringWidth(part), 0)
  return Math.max(stringWidth(character), apart)
}

const startOf = (text: string, columns: number): string => {
  if (plain.test(text)) return text.slice(0, columns)
  let width = 0
  let end = 0
  for (const { index, segment } of segmenter.segment(text)) {
    width += mostOf(segment)
    if (width > columns) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

/** Cuts a text to a width; a cut text ends in `...`. */
export const cut = (text: string, columns: number): string => {
  if (columns === Number.POSITIVE_INFINITY) return text
  if (plain.test(text) ? text.length <= columns : startOf(text, columns) === text) return text
  return columns <= 3 ? startOf(text, columns) : `${startOf(text, columns - 3).trimEnd()}...`
}

export const wrapColumns = (text: string, columns: number): ReadonlyArray<string> => {
  const rows: Array<string> = []
  for (let rest = text; ; ) {
    const row = startOf(rest, columns) || Array.from(rest)[0] || ""
    rows.push(row)
    rest = rest.slice(row.length)
    if (rest === "") return rows
  }
}

/** Counts the rows of characters with these widths. A wide character is never split across two rows. */
const rowsOfWidths = (widths: Iterable<number>, columns: number): number => {
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

export const rowsOf = (text: string, columns: number): number =>
  plain.test(text)
    ? Math.max(1, Math.ceil(text.length / columns))
    : rowsOfWidths(
        Array.from(segmenter.segment(text), ({ segment }) => of(segment)),
        columns
      )

/** The fewest columns that a hanging indent must leave. */
const fewest = 20

/** Matches the hanging indent of a line: blanks, or a list entry with its gap. */
const indentation = /^ *(?:\S+(?: \S+)* {2,})?/

const wrapLine = (line: string, columns: number): string => {
  if (of(line) <= columns) return line
  const [entry = ""] = indentation.exec(line) ?? []
  const [leading = ""] = /^ */.exec(line) ?? []
  const head = [entry, leading, ""].find((start) => of(start) <= columns - fewest) ?? ""
  const blanks = head.length - head.trimStart().length
  const indent = " ".repeat(of(head))
  const rows: Array<string> = []
  let row = head.trimEnd() === "" ? "" : head.slice(blanks)
  let isFresh = true
  for (const word of line.slice(head.length).split(" ")) {
    const start = rows.length === 0 ? " ".repeat(blanks) : indent
    const longer = isFresh ? row + word : `${row} ${word}`
    if (of(start + longer) > columns && (row !== "" || !isFresh)) {
      rows.push(start + row.trimEnd())
      row = word
    } else row = longer
    isFresh = false
  }
  rows.push((rows.length === 0 ? " ".repeat(blanks) : indent) + row)
  return rows.join("\n")
}

/** Wraps lines between words. A longer word stays whole. */
export const wrap = (text: string, columns: number): string =>
  text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n")
