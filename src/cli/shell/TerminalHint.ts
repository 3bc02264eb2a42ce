/** Tells, once in a session, that commands get no input from the keyboard, and how a program gets a terminal. */
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/** The words by which programs say that they miss a terminal, or somebody who answers. */
const missing =
  /a terminal is required|no tty present|EOF when reading a line|\bnot a (?:tty|terminal)\b|could not read (?:Username|Password) for|Inappropriate ioctl for device|must be run (?:in|from) a terminal/i

/** Matches a call of bash's own `read` that takes a line into variables. */
const reading = /^\s*read(?:\s+-[a-zA-Z]+)*((?:\s+[A-Za-z_]\w*)+)\s*$/

/** The most characters of an error's end that are looked into. */
const most = 4000

/** The hints of one session. */
export class TerminalHint {
  private readonly told = new Set<string>()

  /** Returns the hint on a command line that failed; undefined where it is not certain, or was told. */
  of(text: string, { extras, isError }: ToolReturn): string | undefined {
    const { exitCode = 0, stderr = "" } = extras
    if (!isError || exitCode === 0 || extras.interrupted === true) return undefined
    const [, names] = reading.exec(text) ?? []
    const what = "Commands get nothing from the keyboard"
    if (names !== undefined && /^read: .*: No such file or directory$/m.test(stderr))
      return this.once("read", `${what}: read${names} <<< 'a line'`)
    return missing.test(stderr.slice(-most))
      ? this.once("program", `${what}; /tty <command> gives a program the terminal.`)
      : undefined
  }

  private once(kind: string, hint: string): string | undefined {
    const isNew = !this.told.has(kind)
    this.told.add(kind)
    return isNew ? hint : undefined
  }
}
