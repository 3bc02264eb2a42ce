/**
 * Describes what is kept of an output that a reader with limits does not get to see whole, and decides which these are.
 */
import * as BinaryText from "./BinaryText.js"
import type * as ErrorFields from "./ErrorFields.js"

/** One of the two streams of a command's output. */
export type StreamName = typeof ErrorFields.StreamName.Type

/** The order of the lines of both streams, as counts: lines of one stream, then lines of the other. */
export type LineOrder = typeof ErrorFields.LineOrder.Type

/** The default of the most characters that a result shows of both streams together. */
export const defaultLimit = 30_000

/** The most characters of a line that a result shows. */
export const longestLine = 2000

/** A stream whose output is not shown whole. */
export type KeptStream = typeof ErrorFields.KeptStream.Type

/** The streams of a command that are not shown whole, and the most characters that are shown of both together. */
export type KeptOutput = typeof ErrorFields.KeptOutput.Type

/**
 * Returns the most characters that are shown of a stream, beside so many of the other one: half of the limit, and what
 * the other leaves of its half.
 */
export const roomBeside = (other: number, limit: number): number => Math.max(Math.floor(limit / 2), limit - other)

/**
 * Tests whether a stream's text, which was captured whole, is shown with something left out.
 *
 * @param other the length of the other stream's text
 */
export const isCut = (text: string, other: number, limit: number): boolean =>
  text.length > roomBeside(other, limit) ||
  (text.length > longestLine && hasLongLine(text)) ||
  BinaryText.find(text) !== undefined

/** Tests for a long line; a carriage return ends one too, for what follows overwrites it. */
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

/** Writes the line that tells of a gap. */
export const gapLine = (bytes: number, where: string): string => `[… ${bytes} bytes left out; ${where} …]\n`
