/**
 * Words for a shell to read.
 *
 * @since 0.1.0
 */

/**
 * A word that a shell reads as exactly this text.
 *
 * @since 0.1.0
 * @category quoting
 */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
