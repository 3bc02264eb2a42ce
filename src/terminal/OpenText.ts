import * as CommandLine from "../bash/CommandLine.js"
import * as CommandTree from "../bash/CommandTree.js"

/** Longer texts are left to bash. */
const mostCharacters = 64 * 1024
const mostTokens = 5000

/** Tests whether bash would ask for another line. A text with a syntax error is complete. */
export const isOpen = (text: string): boolean => {
  if (text.length > mostCharacters) return false
  const { tokens, tree } = CommandLine.parse(text)
  const last = tokens.at(-1)
  if (tokens.length > mostTokens) return false
  if (last?._tag !== "Comment" && /(?:^|[^\\])(?:\\\\)*\\$/.test(text)) return true
  if (tree.unexpected === undefined) return !CommandTree.isComplete(tree)
  if (last?._tag === "Word" && !last.closed) return true
  // bash reads a here-document before it refuses the line that announces it.
  const announced = tokens.filter((token) => token._tag === "Operator" && /<<-?$/.test(token.value)).length
  return announced > tokens.filter((token) => token._tag === "HereDocument" && token.closed).length
}
