/**
 * Reads a word of the command line again as the bytes that it was: node has decoded it as UTF-8, and put another character
 * in the place of what is not.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as BytePath from "../sandbox/policy/BytePath.js"

const separator = "\0"

/**
 * Returns the word as a path of `BytePath`; the same word where it is UTF-8, and where its bytes can't be had.
 *
 * @since 0.1.0
 */
export const of = (word: string): string => {
  if (!BytePath.isDoubtful(word) || process.platform !== "linux") return word
  try {
    const words = BytePath.decode(Fs.readFileSync("/proc/self/cmdline")).split(separator)
    return words.find((each) => BytePath.encode(each).toString() === word) ?? word
  } catch {
    return word
  }
}
