/**
 * Writes names in texts of ours: a command may have chosen them, so that none may be read as anything but a name. What is
 * quoted is quoted as bash reads it.
 */
import * as Quote from "../../bash/Quote.js"

const write = (text: string, pattern: RegExp): string => {
  const word = Quote.line(text)
  return pattern.test(text) && !word.startsWith("$'") ? text : word
}

/** Writes a path. No sentence can be made of letters and digits of any script without blanks. */
export const of = (path: string): string => write(path, /^[\p{L}\p{M}\p{N}_./:@%+,~=#-]+$/u)

/** Writes an entry of a list as it was written there, which may have the characters of patterns. */
export const ofEntry = (entry: string): string => write(entry, /^[\p{L}\p{M}\p{N}_./:@%+,~=#*?[\]{}!^$\\-]+$/u)
