/**
 * Finds the end of an arithmetic expansion.
 *
 * @since 0.1.0
 */

/**
 * The end of an expansion, and the number of characters that were read to find it.
 *
 * @since 0.1.0
 */
export interface End {
  readonly end: number
  readonly read: number
}

/**
 * Finds the index behind the `))` of the arithmetic expansion whose expression begins at `from`; -1 where it is none,
 * as in `$((a); b)`.
 *
 * @since 0.1.0
 */
export const endOfParentheses = (text: string, from: number): End => {
  let open = 2
  let at = from
  const none = () => ({ end: -1, read: at - from })
  for (; at < text.length; at++) {
    const character = text[at]
    if (character === "(") open++
    else if (character === ")") {
      open--
      if (open === 1 && text[at + 1] !== ")") return none()
      if (open === 0) return { end: at + 1, read: at - from }
    } else if (character === "\n" || character === ";") return none()
  }
  return none()
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
