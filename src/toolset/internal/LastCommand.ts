/** Finds the last command of a text, the one whose end a call waits for. */
import * as CommandLine from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"

/**
 * The most characters of a text whose last command is looked at; of longer ones, the parser leaves the end to bash.
 */
export const longestRead = 100_000

/**
 * Returns the words of the last command of a text; none where it is not plainly called, or anything of the text is
 * redirected or piped.
 */
export const words = (text: string): ReadonlyArray<Word> => {
  const tokens = CommandLine.parse(text).tokens.filter(({ _tag }) => _tag !== "Blank" && _tag !== "Comment")
  const last = tokens.findLastIndex(({ _tag }) => _tag !== "Newline")
  let found: Array<Word> = []
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "HereDocument") return []
    if (token._tag === "Word") found.push(token)
    if (token._tag !== "Operator" && token._tag !== "Newline") continue
    const isEnd = token._tag === "Newline" || token.value === ";"
    if (!isEnd && token._tag === "Operator" && token.value !== "&&") return []
    if (at < last) found = []
  }
  return found
}
