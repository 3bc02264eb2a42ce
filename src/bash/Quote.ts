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
