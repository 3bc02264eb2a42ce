/**
 * Finds the lines of a command text at which bash begins a command, rather than reading the text of a here-document.
 */
import * as CommandLine from "./CommandLine.js"
import type { Token } from "./Token.js"

/**
 * Tests whether a token is the first of its line, and the line continues no other. Newlines within a quoted word begin
 * no line.
 */
export const isFirst = (tokens: ReadonlyArray<Token>, at: number, text: string): boolean => {
  const before = tokens[at - 1]
  if (before?._tag === "Blank") {
    return !text.slice(before.start, before.end).includes("\n") && isFirst(tokens, at - 1, text)
  }
  return before === undefined || before._tag === "Newline" || before._tag === "HereDocument"
}

/** Returns a text without the here-documents that are closed in it. */
export const outsideHereDocuments = (text: string): string => {
  const pieces: Array<string> = []
  let from = 0
  for (const token of CommandLine.parse(text).tokens) {
    if (token._tag !== "HereDocument" || !token.closed) continue
    pieces.push(text.slice(from, token.start))
    from = token.end
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from)
}
