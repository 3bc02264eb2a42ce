/** Quotes words for a shell. */
import * as UntrustedText from "../domain/UntrustedText.js"

/** Quotes a text as one shell word. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Matches words that need no quotes anywhere in a command. */
const plain = /^[\w./:@%+,-]+$/

/** Writes a text as one shell word, with quotes only if necessary. */
export const word = (text: string): string => (plain.test(text) ? text : quote(text))

/** Escapes a character for bash's `$'…'`. A lone surrogate stands for a byte that is not UTF-8 (`ShellText`). */
const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (character === "\n" || character === "\t" || character === "\r") return JSON.stringify(character).slice(1, -1)
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/** Escapes characters that would start a new line, move the cursor, change the direction or be invisible. */
const shown = (text: string): string =>
  UntrustedText.replaceInvisible(text, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

/** Writes a text as one bash word on one line, in which every character is visible. */
export const line = (text: string): string =>
  shown(text) === text ? word(text) : `$'${shown(text.replace(/[\\']/g, "\\$&"))}'`

/**
 * Writes a here-document around a text that ends with a newline. The delimiter is `EOF`, or longer if a line is `EOF`.
 */
export const hereDocument = (text: string): string => {
  let delimiter = "EOF"
  while (`\n${text}`.includes(`\n${delimiter}\n`)) delimiter += "_"
  return `<<'${delimiter}'\n${text}${delimiter}`
}
