/**
 * Writes names into Synapse's messages. A command may have chosen a name, so anything that could read as a sentence is
 * quoted, in bash's syntax.
 */
import * as Quote from "../../bash/Quote.js"

const write = (text: string, pattern: RegExp): string => {
  const word = Quote.line(text)
  return pattern.test(text) && !word.startsWith("$'") ? text : word
}

/** Writes a path. Unquoted, it has no blanks, so it can't form a sentence. */
export const of = (path: string): string => write(path, /^[\p{L}\p{M}\p{N}_./:@%+,~=#-]+$/u)

/** Writes a list entry, which may also contain wildcard characters. */
export const ofEntry = (entry: string): string => write(entry, /^[\p{L}\p{M}\p{N}_./:@%+,~=#*?[\]{}!^$\\-]+$/u)
