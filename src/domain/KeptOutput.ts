/** Describes output that is not shown whole because of the reader's limits, and decides when that is so. */
import * as BinaryText from "./BinaryText.js"
import type * as ErrorFields from "./ErrorFields.js"

export type StreamName = typeof ErrorFields.StreamName.Type

export type LineOrder = typeof ErrorFields.LineOrder.Type

/** The default limit: characters shown of both streams together. */
export const defaultLimit = 30_000

/** The most characters shown of one line. */
export const longestLine = 2000

export type KeptStream = typeof ErrorFields.KeptStream.Type

export type KeptOutput = typeof ErrorFields.KeptOutput.Type

/**
 * Returns the most characters shown of a stream if the other one needs `other`: half of the limit, and what the other
 * leaves of its half.
 */
export const roomBeside = (other: number, limit: number): number => Math.max(Math.floor(limit / 2), limit - other)

/**
 * Tests whether a stream's whole text has to be shown with gaps.
 *
 * @param other the length of the other stream's text
 */
export const isCut = (text: string, other: number, limit: number): boolean =>
  text.length > roomBeside(other, limit) ||
  (text.length > longestLine && hasLongLine(text)) ||
  BinaryText.find(text) !== undefined

/** Tests for a long line. A carriage return also ends a line, because what follows overwrites it. */
const hasLongLine = (text: string): boolean => {
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === newline || code === carriageReturn) start = at + 1
    else if (at - start >= longestLine) return true
  }
  return false
}

const newline = 0x0a
const carriageReturn = 0x0d

export const gapLine = (bytes: number, where: string): string => `[… ${bytes} bytes left out; ${where} …]\n`
