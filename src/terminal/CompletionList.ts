/**
 * The list of completions to choose from, in columns.
 *
 * @since 0.1.0
 */
import stringWidth from "string-width"
import * as ForeignText from "../domain/ForeignText.js"
import * as TextCut from "../domain/TextCut.js"

/** The most rows of a list. */
const mostRows = 12

/**
 * Lays out words in columns, down and then right. Where there are too many, the first are shown, and the number of the
 * others.
 *
 * @since 0.1.0
 */
export const inColumns = (
  words: ReadonlyArray<string>,
  size: { readonly columns: number; readonly rows: number }
): string => {
  const room = Math.max(size.columns - 1, 1)
  const most = Math.max(1, Math.min(mostRows, size.rows - 3))
  const shown = words.slice(0, most * room).map((word) => cutTo(ForeignText.escape(word), room))
  const width = Math.min(Math.max(...shown.map((word) => stringWidth(word))) + 2, room)
  const columns = Math.max(Math.floor((room + 2) / width), 1)
  const rows = Math.min(Math.ceil(shown.length / columns), most)
  const listed = shown.slice(0, rows * columns)
  const lines = Array.from({ length: rows }, (_, row) =>
    listed
      .filter((_, at) => at % rows === row)
      .map((word) => word + " ".repeat(Math.max(width - stringWidth(word), 0)))
      .join("")
      .trimEnd()
  )
  const left = words.length - listed.length
  return [...lines, ...(left > 0 ? [`… ${left} more`] : [])].map((line) => `${line}\r\n`).join("")
}

/** Cuts a word to so many columns. */
const cutTo = (word: string, most: number): string => {
  if (stringWidth(word) <= most) return word
  const characters = [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment)
  while (characters.length > 0 && stringWidth(characters.join("")) > most - 1) characters.pop()
  return `${characters.join("")}…`
}

/**
 * Returns the longest text that all words, written for a shell, begin with.
 *
 * @since 0.1.0
 */
export const commonStart = (words: ReadonlyArray<string>): string => {
  const [first = "", ...others] = words
  let length = first.length
  for (const other of others) {
    let same = 0
    while (same < length && other[same] === first[same]) same++
    length = same
  }
  const start = TextCut.startOf(first, length)
  // A backslash at the end has lost what it escapes, unless nothing differs.
  const backslashes = /\\*$/.exec(start)?.[0].length ?? 0
  return backslashes % 2 === 0 || others.length === 0 ? start : start.slice(0, -1)
}
