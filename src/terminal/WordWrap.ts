/** Breaks the lines of a text for people between words, so that they fit a terminal. */
import * as Columns from "./internal/Columns.js"

/** The fewest columns that further rows of a line may have; where there are fewer, they begin further left. */
const fewest = 20

/** Matches the beginning of a line below which its further rows stand: blanks, or an entry of a list with its gap. */
const indentation = /^ *(?:\S+(?: \S+)* {2,})?/

const wrapLine = (line: string, columns: number): string => {
  if (Columns.of(line) <= columns) return line
  const [entry = ""] = indentation.exec(line) ?? []
  const [leading = ""] = /^ */.exec(line) ?? []
  const head = [entry, leading, ""].find((start) => Columns.of(start) <= columns - fewest) ?? ""
  const blanks = head.length - head.trimStart().length
  const indent = " ".repeat(Columns.of(head))
  const rows: Array<string> = []
  let row = head.trimEnd() === "" ? "" : head.slice(blanks)
  let isFresh = true
  for (const word of line.slice(head.length).split(" ")) {
    const start = rows.length === 0 ? " ".repeat(blanks) : indent
    const longer = isFresh ? row + word : `${row} ${word}`
    if (Columns.of(start + longer) > columns && (row !== "" || !isFresh)) {
      rows.push(start + row.trimEnd())
      row = word
    } else row = longer
    isFresh = false
  }
  rows.push((rows.length === 0 ? " ".repeat(blanks) : indent) + row)
  return rows.join("\n")
}

/**
 * Breaks each line that is longer than so many columns; a word that is longer stays whole, for the terminal to wrap.
 */
export const wrap = (text: string, columns: number): string =>
  text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n")
