/**
 * Quotes words for a shell.
 *
 * @since 0.1.0
 */

/**
 * Quotes a text, so that a shell reads it as one word.
 *
 * @since 0.1.0
 * @category quoting
 */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Matches words that a shell takes as they are, wherever they stand in a command. */
const plain = /^[\w./:@%+,-]+$/

/**
 * Writes a text as one word for a shell, quoted only where it must be.
 *
 * @since 0.1.0
 * @category quoting
 */
export const word = (text: string): string => (plain.test(text) ? text : quote(text))

/**
 * Writes the lines of a here-document around a text that ends with a line break, with `EOF` as its delimiter, or a
 * longer one where a line of the text is that.
 *
 * @since 0.1.0
 * @category quoting
 */
export const hereDocument = (text: string): string => {
  let delimiter = "EOF"
  while (`\n${text}`.includes(`\n${delimiter}\n`)) delimiter += "_"
  return `<<'${delimiter}'\n${text}${delimiter}`
}
