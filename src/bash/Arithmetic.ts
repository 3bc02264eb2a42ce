/**
 * Finds the end of an arithmetic expansion.
 *
 * @since 0.1.0
 */

/**
 * Returns the index behind the `))` of the arithmetic expansion whose expression begins at `from`; -1 where it is none,
 * as in `$((a); b)`.
 *
 * @since 0.1.0
 */
export const endOfParentheses = (text: string, from: number): number => {
  let open = 2
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === "(") open++
    else if (character === ")") {
      open--
      if (open === 1 && text[at + 1] !== ")") return -1
      if (open === 0) return at + 1
    } else if (character === "\n" || character === ";") return -1
  }
  return -1
}

/**
 * Returns the index behind the `]` of `$[…]`, the old form; -1 where it is not closed.
 *
 * @since 0.1.0
 */
export const endOfBrackets = (text: string, from: number): number => {
  let open = 1
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === "\\") at++
    else if (character === "[") open++
    else if (character === "]" && --open === 0) return at + 1
  }
  return -1
}
