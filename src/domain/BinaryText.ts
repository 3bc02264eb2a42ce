/** Finds what is no text in the decoded output of a command: an image, a program, an archive. */

/** A part of a text that is binary. */
export interface BinaryPart {
  /** The index of its first character, which begins a line. */
  readonly start: number
  readonly end: number
}

const unreadable = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]/

/** The fewest unreadable characters of a binary part; fewer of them do no harm. */
const fewest = 32

/** The share of unreadable characters above which a part is binary. */
const share = 1 / 8

/** The same share where all of them are bytes that are not UTF-8: text in Latin-1 comes near it. */
const shareOfForeign = 0.3

/** The share of single NULs above which a part is binary: more than there are between words (`find -print0`). */
const shareOfNuls = 0.4

/**
 * The fewest readable characters from the last unreadable one to the end of its line that are no part of it: what is
 * printed next, where a file does not end in a newline (`cat image; echo done`).
 */
const leastRest = 4

const nul = 0
const replacement = 0xfffd

const isUnreadable = (code: number): boolean =>
  code < 0x20 ? code < 0x07 || (code > 0x0d && code !== 0x1b) : (code >= 0x7f && code <= 0x9f) || code === replacement

/**
 * Returns the binary part of a text, where too many of its characters are unreadable (NULs, controls, bytes that are not
 * UTF-8). It goes from the first line with such characters to the last one. Undefined where there is none.
 */
export const find = (text: string): BinaryPart | undefined => {
  const first = text.search(unreadable)
  if (first < 0) return undefined
  let last = first
  let nuls = 0
  let controls = 0
  let foreign = 0
  for (let at = first; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isUnreadable(code)) continue
    if (code === replacement) foreign++
    else if (code === nul && last !== at - 1) nuls++
    else controls++
    last = at
  }
  const start = text.lastIndexOf("\n", first) + 1
  const newline = text.indexOf("\n", last)
  const rest = newline - last - 1
  const end = newline < 0 ? text.length : rest < leastRest ? newline + 1 : last + 1
  const length = end - start
  const others = controls + foreign
  const isText = others <= length * (controls + nuls === 0 ? shareOfForeign : share) && nuls <= length * shareOfNuls
  if (nuls + others < fewest || isText) return undefined
  return { start, end }
}
