/**
 * What a call is answered with, in types that need no Effect; the fields are those of a ToolReturn.
 *
 * @since 0.1.0
 */

/**
 * The answer to a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Result {
  /** The `id` of the call that it answers. */
  readonly toolCallId: string
  readonly isError: boolean
  /** The text for the model: all that it needs to know. */
  readonly output: string
  /** How it went, in a sentence; for a failure, what it was and how to do better. */
  readonly message: string
  readonly extras: Extras
}

/**
 * What programs want to know of a call; each field only where it applies.
 *
 * @since 0.1.0
 * @category models
 */
export interface Extras {
  /** 124 for a timeout, 126 for a denial, 127 for a command that is not there, 130 for a call that was ended. */
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files that hold all of an output that was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  readonly notices?: ReadonlyArray<string>
  readonly failureCategory?: FailureCategory
  /** The kind of error, where the command did not run or was stopped. */
  readonly error?: "CommandNotFound" | "InvalidUsage" | "Blocked" | "ExecutionFailed"
  /** Where the call itself was wrong: the tool's name as the call gave it. */
  readonly toolName?: string
  /** Why the arguments are not JSON, in the parser's words. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  readonly blockedResource?: string
  readonly blockedRule?: string
}

/**
 * The kinds of failure that programs tell apart.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureCategory = "command_not_found" | "invalid_usage" | "blocked" | "execution_error"
