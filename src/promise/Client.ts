/** The interface of the daemon's sessions for programs without Effect, in types that need no Effect. */
import * as Schema from "effect/Schema"
import * as Timeout from "../domain/Timeout.js"
import * as Fields from "./Fields.js"
import type { HandleOptions, Pending } from "./Synapse.js"

/**
 * The reason of a rejected promise where the daemon did not run a command to its end. `Unavailable`: no daemon could be used, and nothing
 * was run. `Refused`: the session can't be opened or used that way, and nothing was run. `Lost`: the daemon ended while the command ran,
 * which ended it.
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
  /** The path of the program `synapse`, which the daemon is an instance of; by default, that of this package. */
  readonly program?: string | undefined
}

/** Options that open a session, as those of `synapse exec`. A session that is open takes the same ones, or none. */
export interface SessionOptions {
  /** The directory that its shell starts in; by default, that of the process. */
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
  /** Names of variables that commands get, secrets or not. */
  readonly env?: ReadonlyArray<string> | undefined
}

/** The options of a command. */
export interface RunOptions extends HandleOptions {
  /** The time that the command may take, in milliseconds. */
  readonly timeout?: number | undefined
}

/** A session that is open. */
export interface OpenSession {
  readonly name: string
  readonly directory: string
  /** The number of commands that run or wait. */
  readonly running: number
  /** Milliseconds since the last command has ended; 0 while one runs. */
  readonly idle: number
}

/** A session by its name. The first command opens it, in a daemon that is started where none runs. */
export interface Session {
  readonly name: string
  /** Runs a command once the session runs no other. The promise rejects with a DaemonError only: a command that fails has a result. */
  readonly run: (command: string, options?: RunOptions) => Pending
  /** Ends the session with all that runs in it: a command then has exit code 130. Resolves to false where it is not open. */
  readonly close: () => Promise<boolean>
}

/** A client of the daemon that keeps the sessions of `synapse exec --session`. */
export interface Client {
  /** Names a session of letters, digits, dots, dashes and underscores. Nothing is opened yet. */
  readonly session: (name: string, options?: SessionOptions) => Session
  /** Lists the sessions that are open. Starts no daemon. */
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

/** Returns all that is wrong with what a program gives, a line each; undefined where nothing is. */
export const problemOf = (kind: "option" | "session option" | "setting", given: unknown): string | undefined =>
  Fields.problemOf(kind, given, kinds[kind])
