/**
 * Writes names in texts of ours: a command may have chosen them, so that none may be read as anything but a name. What is
 * quoted is quoted as bash reads it.
 */
import * as Quote from "../../bash/Quote.js"

/** Matches what no sentence can be made of: letters and digits of any script, without blanks. */
const plain = /^[\p{L}\p{M}\p{N}_./:@%+,~=#-]+$/u

/** The same, with the characters of patterns. */
const plainRule = /^[\p{L}\p{M}\p{N}_./:@%+,~=#*?[\]{}!^$\\-]+$/u

const write = (text: string, pattern: RegExp): string => {
  const word = Quote.line(text)
  return pattern.test(text) && !word.startsWith("$'") ? text : word
}

/** Writes a path. */
export const of = (path: string): string => write(path, plain)

/** Writes an entry of a list as it was written there. */
export const ofEntry = (entry: string): string => write(entry, plainRule)
