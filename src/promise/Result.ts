/** The result of a call, in types that need no Effect; the fields are those of a ToolReturn. */

/** The result of a call. */
export interface Result {
  /** The `id` of the call. */
  readonly toolCallId: string
  readonly isError: boolean
  /** The text for the model, which holds all that it needs to know. */
  readonly output: string
  /** A sentence on how the call ended; for a failure, what failed, and advice. */
  readonly message: string
  readonly extras: Extras
}

/** The details for programs; each field is present only where it applies. */
export interface Extras {
  /** 124 for a timeout, 126 for a denial, 127 for a missing command, 130 for a call that was cancelled. */
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files that hold the whole output, where it was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  /** Images that the command showed, for programs that can give them to the model. */
  readonly images?: ReadonlyArray<Image>
  readonly notices?: ReadonlyArray<string>
  readonly failureCategory?: FailureCategory
  /** The tag of the error, where the command did not run or was stopped. */
  readonly error?: "CommandNotFound" | "InvalidUsage" | "Blocked" | "ExecutionFailed"
  /** The tool's name as the call gave it, where the call itself was wrong. */
  readonly toolName?: string
  /** The parser's message, where the arguments are not JSON. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  readonly blockedResource?: string
  readonly blockedRule?: string
}

/**
 * An image that a command showed: its path as the command was given it, its type (`image/png`), and its bytes in base64.
 */
export interface Image {
  readonly path: string
  readonly mediaType: string
  readonly base64: string
}

/** The kinds of failure that programs can tell apart. */
export type FailureCategory = "command_not_found" | "invalid_usage" | "blocked" | "execution_error"
