/** The order in which the lines of a command's two streams came. */
import * as Schema from "effect/Schema"

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
