/** Makes the errors of commands that failed on a file: `<command>: <path>: <the system's message>`, and advice. */

import * as Quote from "../bash/Quote.js"
import * as ShellText from "../bash/ShellText.js"
import * as Advice from "../domain/Advice.js"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { FileError } from "./Files.js"

/**
 * @param reason the system's message about the file, or Synapse's
 */
export const make = (
  command: string,
  path: string,
  reason: string,
  { advice = [], cause }: { readonly advice?: ReadonlyArray<Advice.Advice>; readonly cause?: FileError } = {}
): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason: `${command}: ${printable(path)}: ${reason}`, advice, cause })

/**
 * Converts a FileError into the error of a command that needs an existing file.
 *
 * @param directory the directory to list, if the file is missing
 */
export const fromFileError = (command: string, error: FileError, directory = parentOf(error.path)): ExecutionFailed =>
  make(command, error.path, error.reason, { advice: adviceFor(error, directory), cause: error })

const adviceFor = ({ kind, path }: FileError, directory: string): ReadonlyArray<Advice.Advice> => {
  if (kind === "directory") return [Advice.line`${run("ls", path)} lists it.`]
  const isFile = path !== "" && !/^[a-z][a-z\d+.-]*:\/\//i.test(path)
  return kind === "missing" && isFile ? [Advice.line`${run("ls", directory)} shows what there is.`] : []
}

/** Makes advice to run a program on a file: `ls src`. */
export const run = (program: string, path: string): Advice.Part => Advice.run(`${program} ${toWord(path)}`)

/** Converts a path into an operand for bash on one line, quoted if necessary. */
export const toWord = (path: string): string => Quote.line(path.startsWith("-") ? `./${path}` : path)

/** Shows a path in a message, quoted if it has control characters or is not UTF-8. */
export const printable = (path: string): string =>
  path === "" ? "''" : /[\p{Cc}\p{Cs}]/u.test(path) ? ShellText.quoted(path) : path

/** Returns the directory of a path, relative if the path is. */
export const parentOf = (path: string): string => {
  const slash = path.replace(/\/+$/, "").lastIndexOf("/")
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash)
}
