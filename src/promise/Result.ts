/** The result of a call, with the fields of a ToolReturn. Its types do not need Effect. */

/** The result of a call. */
export interface Result {
  /** The `id` of the call. */
  readonly toolCallId: string
  readonly isError: boolean
  /** The text for the model, with everything that it needs to know. */
  readonly output: string
  /** A sentence on how the call ended. For a failure, it says what failed, with advice. */
  readonly message: string
  readonly extras: Extras
}

/** The details for programs. Fields that do not apply are absent. */
export interface Extras {
  /** 124 for a timeout, 126 for a denial, 127 for a missing command, 130 for a cancelled call. */
  readonly exitCode?: number
  readonly stdout?: string
  readonly stderr?: string
  /** The files with the whole output, if it was cut. */
  readonly stdoutFile?: string
  readonly stderrFile?: string
  /** Images that the command showed, for programs that can pass them to the model. */
  readonly images?: ReadonlyArray<Image>
  /** Notices about the command, as data: a changed setting, a new permission, a lost shell. `output` words them. */
  readonly diagnostics?: ReadonlyArray<Diagnostic>
  /** The jobs that the command left running, and those that ended since the last result. */
  readonly jobs?: ReadonlyArray<Job>
  readonly failureCategory?: FailureCategory
  /** The tag of the error, if the command did not run or was stopped. */
  readonly error?: "CommandNotFound" | "InvalidUsage" | "Blocked" | "ExecutionFailed"
  /** The tool's name as the call gave it, if the call itself was wrong. */
  readonly toolName?: string
  /** The parser's message, if the arguments are not JSON. */
  readonly parseError?: string
  readonly interrupted?: true
  readonly blocked?: true
  readonly blockedReason?: string
  readonly blockedResource?: string
  readonly blockedRule?: string
}

/** A notice about a command, as data. */
export type Diagnostic =
  /** A sentence. `about` is what a person allowed after the command, what it was denied, or files that it changed. */
  | { readonly _tag: "Notice"; readonly text: string; readonly about?: "allowed" | "denied" | "changed" }
  /** A path that was allowed meanwhile, but that only a new shell can have. */
  | { readonly _tag: "Awaiting"; readonly name: string }
  /** Connections that were refused to a command that went on, and the hosts that a user can allow. */
  | {
      readonly _tag: "Refused"
      readonly what: string
      readonly also: ReadonlyArray<string>
      readonly hosts: ReadonlyArray<string>
    }
  /** Variables that the command may have needed, and that the sandbox leaves out. */
  | { readonly _tag: "Withheld"; readonly names: ReadonlyArray<string> }
  /** A failed command tried to reach a network. */
  | { readonly _tag: "Offline"; readonly canBeAllowed: boolean }

/**
 * An image that a command showed: its path as given to the command, its type (`image/png`), and its bytes in base64.
 */
export interface Image {
  readonly path: string
  readonly mediaType: string
  readonly base64: string
}

/** A process that still ran when its command ended. */
export interface Job {
  /** The number that `job:output`, `job:wait` and `job:stop` take. */
  readonly id: number
  /** The command line that started it, shortened. */
  readonly name: string
  /** `ended`: with an unknown exit code. `ending`: its exit code comes with a later result. `lost`: with its shell. */
  readonly state: "running" | "ending" | "exited" | "ended" | "lost"
  readonly exitCode?: number
}

/** The kinds of failures that programs can distinguish. */
export type FailureCategory = "command_not_found" | "invalid_usage" | "blocked" | "execution_error"
