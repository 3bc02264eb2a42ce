/** Finds curly quotes in place of straight ones: to bash they are letters. */
import type { Token } from "../../bash/Token.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as MissingPath from "./MissingPath.js"

const curly = /[“”„‘’]/
/** Matches a word that begins or ends with one outside of other quotes. */
const atEdge = /^(?:[\w-]+=)?[“”„‘]|[“”’]$/

/**
 * Says so where a command failed by words with such quotes: something is missing, the syntax is wrong, or what it says
 * holds one.
 */
export const remark = (
  text: string,
  tokens: ReadonlyArray<Token>,
  { exitCode, stderr }: CommandResult
): string | undefined => {
  if (!curly.test(text)) return undefined
  const words = tokens.flatMap((token) => (token._tag === "Word" ? [text.slice(token.start, token.end)] : []))
  const found = words.find((word) => atEdge.test(word))
  const isBy =
    exitCode === 127 ||
    curly.test(stderr) ||
    /^bash: line \d+: (?:syntax error|unexpected EOF)/m.test(stderr) ||
    MissingPath.linesIn(stderr).length > 0
  if (found === undefined || !isBy) return undefined
  return /[‘’]/.test(found) ? "‘ and ’ are letters to bash: quote with '" : '“ and ” are letters to bash: quote with "'
}
