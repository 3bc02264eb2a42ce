/** Finds binary data (an image, a program, an archive) in the decoded output of a command. */

export interface BinaryPart {
  /** Index of its first character, at the start of a line. */
  readonly start: number
  readonly end: number
}

const unreadable = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]/

/** Fewer unreadable characters than this do no harm, so the text is shown. */
const fewest = 32

/** A part with a larger share of unreadable characters is binary. */
const share = 1 / 8

/** The same share if all of them are bytes that are not UTF-8. It is higher because Latin-1 text comes near it. */
const shareOfForeign = 0.3

/** The same share for single NULs. It is higher because NULs also separate words (`find -print0`). */
const shareOfNuls = 0.4

/**
 * If at least this many readable characters follow the last unreadable one on its line, they are not binary. They may
 * be the next output, as in `cat image; echo done`.
 */
const leastRest = 4

const nul = 0
const replacement = 0xfffd

const isUnreadable = (code: number): boolean =>
  code < 0x20 ? code < 0x07 || (code > 0x0d && code !== 0x1b) : (code >= 0x7f && code <= 0x9f) || code === replacement

/**
 * Returns the part of the text from the first to the last line with unreadable characters (NULs, controls, bytes that
 * are not UTF-8). Undefined if they are too few to make it binary.
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
