/**
 * Makes the texts of a server harmless: what a terminal would obey is shown as it is escaped, what can't be seen as its
 * number, and what is long is cut.
 *
 * @since 0.1.0
 */

/** Matches what is not shown as it is: controls, halves of characters, and what is invisible or turns the direction. */
const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]|(?!\u200c|\u200d|[\ufe00-\ufe0f])\p{DI}|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]/gu

const escaped = (char: string): string => {
  if (char === "\n") return "\\n"
  if (char === "\t") return "\\t"
  if (char === "\r") return "\\r"
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length <= 2
    ? `\\x${code.padStart(2, "0")}`
    : code.length <= 4
      ? `\\u${code.padStart(4, "0")}`
      : `\\u{${code}}`
}

/** Cuts a text between two characters, and says how much is left out. */
const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, "")
  return `${kept}… (${text.length - kept.length} more)`
}

/**
 * Shows a text on one line; white space is one space each time.
 *
 * @param most the most characters
 * @since 0.1.0
 */
export const line = (text: string, most: number): string =>
  cut(
    text
      .slice(0, most * 8)
      .replace(/\s+/g, " ")
      .trim(),
    most
  ).replace(unseen, escaped)

/**
 * Shows a word as it is, on one line.
 *
 * @param most the most characters
 * @since 0.1.0
 */
export const word = (text: string, most = 80): string => cut(text, most).replace(unseen, escaped)

/**
 * Shows the first sentence or line of a text, on one line.
 *
 * @param most the most characters
 * @since 0.1.0
 */
export const first = (text: string, most: number): string => {
  const [start = ""] = text
    .trimStart()
    .slice(0, 4000)
    .split(/\r?\n|\r/, 1)
  const [sentence = ""] = /^.*?[.!?](?=\s)/u.exec(start) ?? [start]
  return line(sentence, most)
}

/**
 * Shows the lines of a text, each behind a margin, so that none of them can be taken for a line of ours.
 *
 * @param most the most characters, and the most lines
 * @since 0.1.0
 */
export const block = (text: string, margin: string, most: { readonly characters: number; readonly lines: number }) => {
  const lines = cut(text.trim(), most.characters).split(/\r\n|\n|\r/)
  const shown = lines
    .slice(0, most.lines)
    .map((line) => `${margin}${line.replaceAll("\t", "  ").replace(unseen, escaped)}`.trimEnd())
  const left = lines.length - shown.length
  return left > 0 ? [...shown, `${margin}… (${left} more lines)`] : shown
}
