/**
 * The schemas of what errors hold beside their words. They are apart from what works with these values, so that a command without an
 * error is run without schemas.
 */
import * as Schema from "effect/Schema"

/** A part of a line of advice: text, or a command to run. */
export const Part = Schema.Union(Schema.String, Schema.TaggedStruct("Run", { command: Schema.String }))

/** One line of advice, in its parts. */
export const Advice = Schema.Array(Part)

/** An access that the sandbox's policy refused, and what can be done. */
export const Denial = Schema.TaggedStruct("Denial", {
  /** The refusal in words: `/p/x is read-only`, `/p/.env is blocked by rule .env: …`. */
  what: Schema.String,
  /** The rule as it is named, and why it denies this. */
  rule: Schema.String,
  reason: Schema.String,
  /** False where the command was not run. */
  ran: Schema.Boolean,
  /** Further refusals of the same command. */
  also: Schema.Array(Schema.String),
  /** The sentence on the command that does the rest without what was denied. */
  rest: Schema.optionalWith(Schema.String, { exact: true }),
  /** Sentences on what is allowed and what to do next: each is told once in a session. */
  advice: Schema.Array(Schema.String),
  /** The paths that a user can allow, quoted for bash. Where `exist` is false, one has to be created first. */
  allow: Schema.optionalWith(Schema.Struct({ paths: Schema.Array(Schema.String), exist: Schema.Boolean }), {
    exact: true
  }),
  /** The words behind `synapse sandbox` by which a user lifts the rule. */
  lift: Schema.optionalWith(Schema.String, { exact: true }),
  /** The entry that a user can allow for a host, quoted for bash. */
  host: Schema.optionalWith(Schema.String, { exact: true })
})

/** One of the two streams of a command's output. */
export const StreamName = Schema.Literal("stdout", "stderr")

/**
 * The order of the lines of both streams, as counts: lines of one stream, then lines of the other. A last line without a
 * newline counts too. Lines that are not in it come last.
 */
export const LineOrder = Schema.Array(Schema.Tuple(StreamName, Schema.Number))

/** The gap in a stream's text, with the line that tells of it; `start` and `end` are indices into the text. */
const Gap = Schema.Struct({ start: Schema.Number, end: Schema.Number, bytes: Schema.Number })

/** A stream whose output is not shown whole. */
export const KeptStream = Schema.Struct({
  /** The number of bytes that came. */
  bytes: Schema.Number,
  /** The words that name the file with the whole stream: `all of it: /tmp/…/1.txt`. */
  where: Schema.String,
  gap: Schema.optionalWith(Gap, { exact: true })
})

/** The streams of a command that are not shown whole, and the most characters that are shown of both together. */
export const KeptOutput = Schema.Struct({
  limit: Schema.Number,
  stdout: Schema.optionalWith(KeptStream, { exact: true }),
  stderr: Schema.optionalWith(KeptStream, { exact: true })
})
