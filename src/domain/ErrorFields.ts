/**
 * Schemas of the data that errors carry. They are apart from the functions on this data, so that a successful command
 * loads no schemas.
 */
import * as Schema from "effect/Schema"

export const Part = Schema.Union(Schema.String, Schema.TaggedStruct("Run", { command: Schema.String }))

export const Advice = Schema.Array(Part)

/** An access that the sandbox's policy refused, and what can be done about it. */
export const Denial = Schema.TaggedStruct("Denial", {
  /** The refusal in words: `/p/x is read-only`, `/p/.env is blocked by rule .env: …`. */
  what: Schema.String,
  /** The rule's name in messages. */
  rule: Schema.String,
  reason: Schema.String,
  /** False if the command was not run. */
  ran: Schema.Boolean,
  /** Further refusals of the same command, in words. */
  also: Schema.Array(Schema.String),
  /** A sentence that names a command for the rest of the work. */
  rest: Schema.optionalWith(Schema.String, { exact: true }),
  /** Sentences on what is allowed and what to do next. Each is told once in a session. */
  advice: Schema.Array(Schema.String),
  /** The paths that a user can allow, quoted for bash. If `exist` is false, some have to be created first. */
  allow: Schema.optionalWith(Schema.Struct({ paths: Schema.Array(Schema.String), exist: Schema.Boolean }), {
    exact: true
  }),
  /** The hidden path that a user can let commands read, quoted for bash. */
  hidden: Schema.optionalWith(Schema.String, { exact: true }),
  /** The words behind `synapse sandbox` that lift another rule. */
  lift: Schema.optionalWith(Schema.String, { exact: true }),
  /** The host entry that a user can allow, quoted for bash. */
  host: Schema.optionalWith(Schema.String, { exact: true }),
  /** True if only a new shell gets what is then allowed. */
  isAnew: Schema.optionalWith(Schema.Literal(true), { exact: true })
})

/** A notice about a command. The denial that made the command fail is a field of its own. */
export const Diagnostic = Schema.Union(
  /** A sentence. Without `about`, it concerns the shell: a person who runs one command is not told. */
  Schema.TaggedStruct("Notice", {
    text: Schema.String,
    /** An access that a person allowed after the command, or that it was denied, or files that it changed. */
    about: Schema.optionalWith(Schema.Literal("allowed", "denied", "changed"), { exact: true })
  }),
  /** A path that was allowed meanwhile, but that only a new shell can have. */
  Schema.TaggedStruct("Awaiting", { name: Schema.String }),
  /** Connections that were refused to a command that went on. */
  Schema.TaggedStruct("Refused", {
    what: Schema.String,
    /** Further refused hosts. */
    also: Schema.Array(Schema.String),
    /** The host entries that a user can allow, quoted for bash. */
    hosts: Schema.Array(Schema.String)
  }),
  /** Variables that the command may have needed, and that the sandbox leaves out. */
  Schema.TaggedStruct("Withheld", { names: Schema.Array(Schema.String) }),
  /** A failed command tried to reach a network. */
  Schema.TaggedStruct("Offline", { canBeAllowed: Schema.Boolean })
)

export const StreamName = Schema.Literal("stdout", "stderr")

/**
 * The order of the lines of both streams, as counts of consecutive lines. A last line without a newline counts too.
 * Lines that the list does not count come last.
 */
export const LineOrder = Schema.Array(Schema.Tuple(StreamName, Schema.Number))

/** The place of the line that stands for the bytes left out. `start` and `end` are indices into the text. */
const Gap = Schema.Struct({ start: Schema.Number, end: Schema.Number, bytes: Schema.Number })

export const KeptStream = Schema.Struct({
  /** The number of bytes printed. */
  bytes: Schema.Number,
  /** The words that name the file with the whole stream: `all of it: /tmp/…/1.txt`. */
  where: Schema.String,
  gap: Schema.optionalWith(Gap, { exact: true })
})

/** The streams that are not shown whole, and the most characters shown of both together. */
export const KeptOutput = Schema.Struct({
  limit: Schema.Number,
  stdout: Schema.optionalWith(KeptStream, { exact: true }),
  stderr: Schema.optionalWith(KeptStream, { exact: true })
})
