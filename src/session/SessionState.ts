/**
 * The state that a session keeps from command to command, and from one shell to the next.
 *
 * @since 0.1.0
 */
import * as Protocol from "./Protocol.js"

/**
 * The part of a shell's state that the session has to know outside of it.
 *
 * @since 0.1.0
 * @category models
 */
export class SessionState {
  /** The shell's directory, as of the last command that ended. */
  cwd: string
  /** The exit code of the last command, which is the next one's `$?`. */
  status = 0
  /** The value of REPLY, byte for byte as Latin-1. */
  reply = ""
  /** Bash text that gives the next shell the state of the last; undefined where there is no state to hand on. */
  restoration: string | undefined
  private notices: Array<string> = []

  constructor(private readonly directory: string) {
    this.cwd = directory
  }

  /** Forgets everything, so that the next shell starts as the first one did. */
  reset(): void {
    this.cwd = this.directory
    this.status = 0
    this.reply = ""
    this.restoration = undefined
    this.notices = []
  }

  /** Adds a notice, which comes with the next result. */
  note(notice: string): void {
    this.notices.push(notice)
  }

  /** Replaces all notices by one. */
  noteOnly(notice: string): void {
    this.notices = [notice]
  }

  takeNotices(): ReadonlyArray<string> {
    return this.notices.splice(0)
  }

  /**
   * Keeps the state that an ended shell has written, for the next shell. `environment` holds the names of the variables
   * that the next shell starts with.
   */
  handOver(said: string, environment: ReadonlyArray<string>): void {
    this.reply = ""
    this.restoration = Protocol.restoration(said, environment)
  }
}
