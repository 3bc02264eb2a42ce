/**
 * What a session keeps from command to command, and from one shell to the next.
 *
 * @since 0.1.0
 */
import * as Protocol from "./Protocol.js"

/**
 * The shell's own state lives in the shell; this is what its host has to know of it.
 *
 * @since 0.1.0
 * @category models
 */
export class SessionState {
  /** The shell's directory, as of the last command that ended. */
  cwd: string
  /** The exit code of the last command: the next one's `$?`. */
  status = 0
  /** The shell's REPLY, byte for byte as Latin-1. */
  reply = ""
  /** Bash text that gives the next shell the state of the last; undefined where there is none to hand on. */
  restoration: string | undefined
  private notices: Array<string> = []

  constructor(private readonly directory: string) {
    this.cwd = directory
  }

  /** Forgets everything: the next shell starts as the first one did. */
  reset(): void {
    this.cwd = this.directory
    this.status = 0
    this.reply = ""
    this.restoration = undefined
    this.notices = []
  }

  /** Says something with the next result. */
  note(notice: string): void {
    this.notices.push(notice)
  }

  /** Says it in place of all that was to be said. */
  noteOnly(notice: string): void {
    this.notices = [notice]
  }

  takeNotices(): ReadonlyArray<string> {
    return this.notices.splice(0)
  }

  /** A shell has ended, and has said this of its state. `environment` names the variables that the next one starts with. */
  handOver(said: string, environment: ReadonlyArray<string>): void {
    this.reply = ""
    this.restoration = Protocol.restoration(said, environment)
  }
}
