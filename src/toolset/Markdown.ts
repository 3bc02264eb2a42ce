/**
 * Finds Markdown's code fences in the text of a command, and tells them from the text of here-documents.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as LineStart from "../bash/LineStart.js"

/**
 * A code block between two fences.
 *
 * @since 0.1.0
 * @category models
 */
export interface Block {
  /** The text behind the opening fence: `bash`. */
  readonly info: string
  /** The lines between the fences, without the indentation of the opening one, and with LF for CRLF. */
  readonly text: string
}

const opening = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/
const fence = /^[ \t]*(?:`{3,}|~{3,})/m

/** Splits a text into lines, without the CR where the first line has one. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  return lines[0]?.endsWith("\r") === true ? lines.map((line) => line.replace(/\r$/, "")) : lines
}

const closes = (line: string, opener: string): boolean => {
  const found = line.trim()
  return found.length >= opener.length && found === (opener[0] as string).repeat(found.length)
}

/** Makes a block from the lines behind an opening fence. */
const block = (indentation: string, info: string, lines: ReadonlyArray<string>): Block => ({
  info: info.trim(),
  text: lines.map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line)).join("\n")
})

/**
 * Returns the first block of a text, as CommonMark reads it; one that is not closed goes on to the end.
 *
 * @since 0.1.0
 * @category parsing
 */
export const first = (text: string): Block | undefined => {
  const lines = linesOf(text)
  const from = lines.findIndex((line) => opening.test(line))
  if (from < 0) return undefined
  const [, indentation = "", opener = "", info = ""] = opening.exec(lines[from] as string) ?? []
  const inner = lines.slice(from + 1)
  const end = inner.findIndex((line) => closes(line, opener))
  return block(indentation, info, end < 0 ? inner : inner.slice(0, end))
}

/**
 * Returns the one block that is all of a text: its fences are the first and the last line, and any fence between them
 * stands in a here-document of the block.
 *
 * @since 0.1.0
 * @category parsing
 */
export const whole = (text: string): Block | undefined => {
  const lines = linesOf(text.replace(/^\s*\n/, "").trimEnd())
  const [, indentation = "", opener, info = ""] = opening.exec(lines[0] as string) ?? []
  if (opener === undefined || lines.length < 2 || !closes(lines.at(-1) as string, opener)) return undefined
  const found = block(indentation, info, lines.slice(1, -1))
  const isInner = !lines.slice(1, -1).some((line) => closes(line, opener))
  return isInner || !fence.test(LineStart.outsideHereDocuments(found.text)) ? found : undefined
}

/**
 * Tests whether a text has a fence where no command has one: bash runs what it finds between the backquotes. Fences in
 * here-documents, in quotes and in comments are none.
 *
 * @since 0.1.0
 */
export const isMarkdown = (text: string): boolean => {
  // Both are found sooner than a pattern matches, and most texts hold neither.
  if (!text.includes("```") && !(text.includes("~~~") && /^[ \t]*~{3}/m.test(text))) return false
  if (/^\s*(?:`{3}|~{3})/.test(text)) return true
  const { tokens } = CommandLine.parse(text)
  // The word at the end of what can be read is not closed, and may be the text of a here-document.
  return tokens.some(
    (token, at) =>
      token._tag === "Word" &&
      token.closed &&
      (text.startsWith("```", token.start) ||
        (text.startsWith("~~~", token.start) && LineStart.isFirst(tokens, at, text)))
  )
}

/**
 * Returns the text between the first fences of a text, wherever they stand in their lines.
 *
 * @since 0.1.0
 * @category parsing
 */
export const inline = (text: string): Block => {
  const [, info = "", inner = ""] = /`{3,}(?:(\w*)\n)?([^`]*)`{3,}/.exec(text) ?? []
  return { info, text: inner }
}
