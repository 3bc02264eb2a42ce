/** Tests whether a text of bash goes on with the next line. */
import * as CommandLine from "../bash/CommandLine.js"
import * as OpenCommand from "../bash/OpenCommand.js"
import type { Token } from "../bash/Token.js"

/** Operators behind which a command has to follow. */
const before = new Set(["|", "|&", "&&", "||"])
/** Matches the beginning of a loop, a choice or a function whose next part may stand in the next line. */
const head =
  /(?:^|[;&|({\n]|\b(?:do|then|else)\s)\s*(?:(?:for|select|case)\s+(?:\\.|[^\s;()\\])+|function\s+[^\s;()]+(?:\s*\(\s*\))?)\s*$/
/** Matches arithmetic, which has operators that would be others in a command. */
const arithmetic = /(\bfor\s*)?(?<!\$)\(\((?:[^()'"`\\]|\([^()'"`\\]*\))*\)\)/g

/** The most characters and tokens of a text that is read; of a longer one, bash itself tells. */
const mostCharacters = 64 * 1024
const mostTokens = 5000

/**
 * Tests whether bash would ask for another line: a quote, a here-document or a compound command is open, or `\`, `|`,
 * `&&` or `||` is at the end. A text that bash would refuse is not open.
 */
export const isOpen = (text: string): boolean => {
  if (text.length > mostCharacters) return false
  const plain = text.replace(arithmetic, (_, loop) => (loop === undefined ? ":" : "for i"))
  const { tokens } = CommandLine.parse(plain)
  if (tokens.length > mostTokens) return false
  if (tokens.at(-1)?._tag !== "Comment" && /(?:^|[^\\])(?:\\\\)*\\$/.test(plain)) return true
  if (awaitsHereDocument(tokens)) return true
  const read = tokens.filter(({ _tag }) => _tag !== "Blank" && _tag !== "Comment" && _tag !== "Newline")
  const last = read.at(-1)
  if (last?._tag === "Word") {
    if (!last.closed) return true
    const code = tokens.filter(({ _tag }) => _tag !== "Comment").map(({ end, start }) => plain.slice(start, end))
    if (head.test(code.join(""))) return true
  }
  if (last?._tag === "Operator") {
    if (before.has(last.value) || endsWithParameters(read)) return true
  }
  return (OpenCommand.find(plain, tokens) ?? []).length > 0
}

const awaitsHereDocument = (tokens: ReadonlyArray<Token>): boolean => {
  const announced = tokens.filter((token) => token._tag === "Operator" && /<<-?$/.test(token.value)).length
  const closed = tokens.filter((token) => token._tag === "HereDocument" && token.closed).length
  return announced > closed
}

/** Tests whether `f()` is at the end, whose body may stand in the next line. */
const endsWithParameters = (read: ReadonlyArray<Token>): boolean => {
  const [name, open, close] = read.slice(-3)
  return (
    name?._tag === "Word" &&
    open?._tag === "Operator" &&
    open.value === "(" &&
    close?._tag === "Operator" &&
    close.value === ")"
  )
}
