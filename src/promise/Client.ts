/** The interface of the daemon's sessions for programs without Effect. Its types do not need Effect. */
import * as Schema from "effect/Schema"
import * as Timeout from "../domain/Timeout.js"
import * as Fields from "./Fields.js"
import type { HandleOptions, Pending } from "./Synapse.js"

/**
 * Rejects a promise if the daemon did not run a command to its end. `Unavailable`: no daemon could be used, and nothing
 * ran. `Refused`: the session can't be opened or used like this, and nothing ran. `Lost`: the daemon ended, and the
 * running command with it.
 */
export class DaemonError extends Error {
  override readonly name = "DaemonError"
  readonly reason: "Unavailable" | "Refused" | "Lost"

  constructor(reason: DaemonError["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/** The settings of `connect`. */
export interface ClientSettings {
  /** The path of the program `synapse` that runs as the daemon; by default, this package's. */
  readonly program?: string | undefined
}

/** Options that open a session, like those of `synapse exec`. For an open session, give the same options or none. */
export interface SessionOptions {
  /** The directory that its shell starts in; by default, the process's own. */
  readonly cwd?: string | undefined
  /** Runs commands without a sandbox if false. */
  readonly sandbox?: false | undefined
  /** Paths that commands may write, besides the directory. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Paths that commands may read although a built-in rule hides them. */
  readonly allowRead?: ReadonlyArray<string> | undefined
  /** Paths and patterns that commands may neither read nor write. */
  readonly deny?: ReadonlyArray<string> | undefined
  /** Hosts that commands may reach. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /** Names of variables that commands get, even if they look like secrets. */
  readonly env?: ReadonlyArray<string> | undefined
}

/** The options of a command. */
export interface RunOptions extends HandleOptions {
  /** The command's time limit, in milliseconds. */
  readonly timeout?: number | undefined
}

/** An open session. */
export interface OpenSession {
  readonly name: string
  readonly directory: string
  /** The number of running and waiting commands. */
  readonly running: number
  /** Milliseconds since the last command ended; 0 while one runs. */
  readonly idle: number
}

/** A named session. The first command opens it, and starts the daemon if none is running. */
export interface Session {
  readonly name: string
  /**
   * Runs a command after the session's earlier ones. The promise only rejects with a DaemonError; a failed command has
   * a result.
   */
  readonly run: (command: string, options?: RunOptions) => Pending
  /**
   * Ends the session and everything that runs in it; a running command gets exit code 130. Resolves to false if it is
   * not open.
   */
  readonly close: () => Promise<boolean>
}

/** A client of the daemon that keeps the sessions of `synapse exec --session`. */
export interface Client {
  /** Names a session, with letters, digits, dots, dashes and underscores. It opens nothing. */
  readonly session: (name: string, options?: SessionOptions) => Session
  /** Lists the open sessions. It does not start the daemon. */
  readonly list: () => Promise<ReadonlyArray<OpenSession>>
}

const kinds = {
  setting: Fields.optional({ program: Fields.text }),
  "session option": Fields.optional({
    cwd: Fields.text,
    sandbox: Schema.Literal(false).annotations(Fields.must("false, or missing")),
    allow: Fields.texts,
    allowRead: Fields.texts,
    deny: Fields.texts,
    allowedHosts: Fields.texts,
    env: Fields.texts
  }),
  option: Fields.optional({ ...Fields.handling, timeout: Fields.wholeNumber(1, Timeout.longest) })
}

/** Returns all problems with a program's values, one per line, or undefined. */
export const problemOf = (kind: "option" | "session option" | "setting", given: unknown): string | undefined =>
  Fields.problemOf(kind, given, kinds[kind])
