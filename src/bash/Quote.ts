/** Quotes words for a shell. */
import * as UntrustedText from "../domain/UntrustedText.js"

/** Quotes a text, so that a shell reads it as one word. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Matches words that a shell takes as they are, wherever they stand in a command. */
const plain = /^[\w./:@%+,-]+$/

/** Writes a text as one word for a shell, quoted only where it must be. */
export const word = (text: string): string => (plain.test(text) ? text : quote(text))

/** Escapes a character as bash reads it in `$'…'`; a lone surrogate stands for a byte that is not UTF-8 (`BytePath`). */
const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (character === "\n" || character === "\t" || character === "\r") return JSON.stringify(character).slice(1, -1)
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/** Escapes all that would begin another line, move a cursor, change the direction, or not be seen. */
const shown = (text: string): string =>
  UntrustedText.replaceInvisible(text, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

/** Writes a text as one word for bash, on one line on which all of it is seen; quoted where it must be. */
export const line = (text: string): string =>
  shown(text) === text ? word(text) : `$'${shown(text.replace(/[\\']/g, "\\$&"))}'`

/**
 * Writes the lines of a here-document around a text that ends with a line break. The delimiter is `EOF`, or a longer
 * word where a line of the text is that.
 */
export const hereDocument = (text: string): string => {
  let delimiter = "EOF"
  while (`\n${text}`.includes(`\n${delimiter}\n`)) delimiter += "_"
  return `<<'${delimiter}'\n${text}${delimiter}`
}
