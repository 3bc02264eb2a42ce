/**
 * Makes text of a server's harmless for a message: one can't tell what it holds.
 *
 * @since 0.1.0
 */

const invisible = /[\p{Cc}\p{Cs}\p{DI}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]/gu

/**
 * Returns text with its control characters as pictures and its invisible ones as numbers (`<U+202E>`), at most `longest`
 * characters of it. Newlines and tabs stay.
 *
 * @since 0.1.0
 */
export const visible = (text: string, longest = 2000): string => {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text
  return cut.replaceAll("\r\n", "\n").replace(invisible, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (character === "\n" || character === "\t") return character
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    if (code === 0x7f) return "\u2421"
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
  })
}

/**
 * Returns text as `visible` does, on one line.
 *
 * @since 0.1.0
 */
export const line = (text: string, longest = 300): string => visible(text.trim().replace(/\s+/g, " "), longest)

/**
 * Returns the last lines of what a server wrote to its standard error, indented; empty where it wrote nothing.
 *
 * @param text the end of it
 * @since 0.1.0
 */
export const tail = (text: string, lines = 10): string => {
  const last = visible(text.trim().split("\n").slice(-lines).join("\n").slice(-2000), 2000)
  return last === "" ? "" : last.replace(/^/gm, "  ")
}
