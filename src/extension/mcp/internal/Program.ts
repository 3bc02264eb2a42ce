/** The program of an MCP server. */
import * as Path from "node:path"

/** A program as it is started. */
export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Returns the name of a program: `node` of `/usr/bin/node`. */
export const nameOf = (command: string): string => Path.basename(command)

/** Tests whether a word is no option. */
export const isPlain = (word: string): boolean => !word.startsWith("-")

/** Returns the value of an option that holds one after `=`; any other word as it is. */
export const valueOf = (word: string): string => (word.startsWith("-") ? word.slice(word.indexOf("=") + 1) : word)

/** Returns the words that follow the first one with this sense; undefined where there is none. */
export const after = (
  words: ReadonlyArray<string>,
  test: (word: string) => boolean
): ReadonlyArray<string> | undefined => {
  const at = words.findIndex(test)
  return at < 0 ? undefined : words.slice(at + 1)
}
