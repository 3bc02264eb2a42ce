/**
 * How a command says that a file would not have it: `<command>: <path>: <the system's words>`, and what helps.
 *
 * @since 0.1.0
 */

import { quote } from "../bash/Quote.js"
import * as ShellText from "../bash/ShellText.js"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { FileError } from "./Files.js"

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

/** What is no part of a line: control characters, and bytes that are no UTF-8. */
const unshowable = /[\p{Cc}\p{Cs}]/u

/**
 * A path as a word for bash, on one line, quoted only where it must be.
 *
 * @since 0.1.0
 */
export const word = (path: string): string => {
  const operand = path.startsWith("-") ? `./${path}` : path
  if (unshowable.test(operand)) return `$'${operand.replace(/[\p{Cc}\p{Cs}'\\]/gu, escaped)}'`
  return /^[\w./:@%+,~-]+$/.test(operand) ? operand : quote(operand)
}

const escaped = (char: string): string => {
  if (char === "'" || char === "\\") return `\\${char}`
  if (char === "\n") return "\\n"
  return [...ShellText.encode(char)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
}

/**
 * A path as a message shows it: as it was given, where that is one line of UTF-8.
 *
 * @since 0.1.0
 */
export const shown = (path: string): string =>
  path === "" ? "''" : unshowable.test(path) ? ShellText.quoted(path) : path

const parentOf = (path: string): string => {
  const slash = path.replace(/\/+$/, "").lastIndexOf("/")
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash)
}
