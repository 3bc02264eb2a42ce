/**
 * Describes what is kept of an output that a reader with limits does not get to see whole, and decides which these are.
 */
import * as Schema from "effect/Schema"
import * as BinaryText from "./BinaryText.js"

/** One of the two streams of a command's output. */
export const StreamName = Schema.Literal("stdout", "stderr")

/** One of the two streams of a command's output. */
export type StreamName = typeof StreamName.Type

/**
 * The order of the lines of both streams: so many of one, then so many of the other. What stands at the end of a stream
 * without a newline is a line too. Lines that are not in it come last.
 */
export const LineOrder = Schema.Array(Schema.Tuple(StreamName, Schema.Number))

/** The order of the lines of both streams: so many of one, then so many of the other. */
export type LineOrder = typeof LineOrder.Type

/** The default of the most characters that a result shows of both streams together. */
export const defaultLimit = 30_000

/** The most characters of a line that a result shows. */
export const longestLine = 2000

/** The gap in a stream's text, with the line that tells of it; `start` and `end` are indices into the text. */
const Gap = Schema.Struct({ start: Schema.Number, end: Schema.Number, bytes: Schema.Number })

/** The gap in a stream's text, with the line that tells of it. */
export type Gap = typeof Gap.Type

/** A stream whose output is not shown whole. */
export const KeptStream = Schema.Struct({
  /** The number of bytes that came. */
  bytes: Schema.Number,
  /** The words that name the file with the whole stream: `all of it: /tmp/…/1.txt`. */
  where: Schema.String,
  gap: Schema.optionalWith(Gap, { exact: true })
})

/** A stream whose output is not shown whole. */
export type KeptStream = typeof KeptStream.Type

/** The streams of a command that are not shown whole, and the most characters that are shown of both together. */
export const KeptOutput = Schema.Struct({
  limit: Schema.Number,
  stdout: Schema.optionalWith(KeptStream, { exact: true }),
  stderr: Schema.optionalWith(KeptStream, { exact: true })
})

/** The streams of a command that are not shown whole, and the most characters that are shown of both together. */
export type KeptOutput = typeof KeptOutput.Type

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
