/**
 * Shows a text that somebody else wrote on one line, which no terminal obeys and in which nothing is hidden.
 *
 * @since 0.1.0
 */
import * as TextCut from "./TextCut.js"

/** Matches what begins a line, moves a cursor, changes the direction of a text, or is not seen. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu
const white = /[\s\u0085]+/gu

const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/**
 * Returns at most so many characters of a text, on one line; its white space becomes single spaces, and what can't be
 * seen is escaped (`\u001b`).
 *
 * @since 0.1.0
 */
export const of = (text: string, most: number): string => {
  // An escape is longer than what it stands for, and much white space goes.
  const line = TextCut.startOf(text, 4 * most)
    .replace(white, " ")
    .trim()
    .replace(unseen, escaped)
  return line.length > most || text.length > 4 * most ? `${TextCut.startOf(line, most - 1).trimEnd()}…` : line
}

/**
 * Quotes a text of somebody else's, so that it reads as theirs: on one line, of at most so many characters.
 *
 * @since 0.1.0
 */
export const quoted = (text: string, most: number): string => `"${of(text, most - 2).replaceAll('"', "'")}"`
