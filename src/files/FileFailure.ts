/** Makes the errors of commands that failed on a file: `<command>: <path>: <the system's words>`, and advice. */

import * as Quote from "../bash/Quote.js"
import * as ShellText from "../bash/ShellText.js"
import * as Advice from "../domain/Advice.js"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { FileError } from "./Files.js"

/**
 * Makes the error of a command that failed on a file.
 *
 * @param reason the system's message about the file, or our own
 */
export const make = (
  command: string,
  path: string,
  reason: string,
  { advice = [], cause }: { readonly advice?: ReadonlyArray<Advice.Advice>; readonly cause?: FileError } = {}
): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason: `${command}: ${printable(path)}: ${reason}`, advice, cause })

/**
 * Converts a FileError into the error of a command that needs a file that exists.
 *
 * @param directory the directory that shows what there is, in place of a file that is missing
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

/** Converts a path into an operand for bash, on one line, quoted only where it must be. */
export const toWord = (path: string): string => Quote.line(path.startsWith("-") ? `./${path}` : path)

/** Converts a path into text for a message: as it was given, where that is one line of UTF-8, and quoted otherwise. */
export const printable = (path: string): string =>
  path === "" ? "''" : /[\p{Cc}\p{Cs}]/u.test(path) ? ShellText.quoted(path) : path

/** Returns the directory that a path lies in, in the form that the path has. */
export const parentOf = (path: string): string => {
  const slash = path.replace(/\/+$/, "").lastIndexOf("/")
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash)
}
