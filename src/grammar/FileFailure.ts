/**
 * How a command says that a file would not have it: `<command>: <path>: <the system's words>`, and what helps.
 *
 * @since 0.1.0
 */
import { ExecutionFailed } from "../domain/CommandError.js"
import type { FileError } from "./Files.js"
import { quote } from "./Quote.js"

/**
 * @param reason what is wrong with the file
 * @param advice a line of its own
 * @since 0.1.0
 * @category errors
 */
export const make = (command: string, path: string, reason: string, advice?: string): ExecutionFailed =>
  new ExecutionFailed({
    cause: "io",
    reason: `${command}: ${shown(path)}: ${reason}${advice === undefined ? "" : `\n${advice}`}`
  })

/**
 * What `Files` failed with, as the failure of a command that wants a file that exists.
 *
 * @since 0.1.0
 * @category errors
 */
export const fromFileError = (command: string, { kind, path, reason }: FileError): ExecutionFailed => {
  switch (kind) {
    case "missing":
      return make(command, path, reason, path === "" ? undefined : `${call("ls", parentOf(path))} shows what there is.`)
    case "directory":
      return make(command, path, reason, `${call("ls", path)} lists it.`)
    default:
      return make(command, path, reason)
  }
}

/**
 * A call of the tool, for advice: `Bash(command="ls src")`.
 *
 * @since 0.1.0
 */
export const call = (program: string, path: string): string =>
  `Bash(command=${JSON.stringify(`${program} ${word(path)}`)})`

/**
 * A path as a shell's word, quoted only where it must be.
 *
 * @since 0.1.0
 */
export const word = (path: string): string => {
  const operand = path.startsWith("-") ? `./${path}` : path
  return /^[\w./:@%+,~-]+$/.test(operand) ? operand : quote(operand)
}

/**
 * A path as a message shows it: as it was given, where that is one line.
 *
 * @since 0.1.0
 */
export const shown = (path: string): string => (path === "" ? "''" : /\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

const parentOf = (path: string): string => {
  const slash = path.replace(/\/+$/, "").lastIndexOf("/")
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash)
}
