/** Finds Markdown's code fences in the text of a command, and tells them from the text of here-documents. */
import * as CommandLine from "../../bash/CommandLine.js"
import * as LineStart from "../../bash/LineStart.js"

/** A code block between two fences. */
export interface Block {
  /** The text behind the opening fence: `bash`. */
  readonly info: string
  /** The lines between the fences, without the indentation of the opening one, and with LF for CRLF. */
  readonly text: string
}

const opening = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/
const fence = /^[ \t]*(?:`{3,}|~{3,})/m
const lastFence = /^(?:`{3}|~{3})$/

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
 * Returns the blocks of a text in their order, as CommonMark reads them; one that is not closed goes on to the end.
 */
export const blocks = (text: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  const lines = linesOf(text)
  for (let at = 0; at < lines.length; at++) {
    const [, indentation = "", opener, info = ""] = opening.exec(lines[at] as string) ?? []
    if (opener === undefined) continue
    const inner = lines.slice(at + 1)
    const end = inner.findIndex((line) => closes(line, opener))
    const length = end < 0 ? inner.length : end
    found.push(block(indentation, info, inner.slice(0, length)))
    at += length + 1
  }
  return found
}

/**
 * Returns the lines above a closing fence that has no opening one, and is the last line of a text; undefined for any
 * other text. Fences in here-documents and in quotes are none.
 */
export const beforeLoneFence = (text: string): string | undefined => {
  const trimmed = text.trimEnd()
  if (!lastFence.test(trimmed.slice(-3)) || !trimmed.includes("\n")) return undefined
  const { tokens } = CommandLine.parse(trimmed)
  const last = tokens.at(-1)
  const isLast = last?._tag === "Word" && /^(?:`{3,}|~{3,})$/.test(trimmed.slice(last.start))
  if (!isLast || !LineStart.isFirst(tokens, tokens.length - 1, trimmed)) return undefined
  const above = text.slice(0, last.start)
  return fence.test(LineStart.outsideHereDocuments(above)) || above.trim() === "" ? undefined : above.trimEnd()
}

/**
 * Returns the one block that is all of a text: its fences are the first and the last line, and any fence between them
 * stands in a here-document of the block.
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

/** Returns the text between the first fences of a text, wherever they stand in their lines. */
export const inline = (text: string): Block => {
  const [, info = "", inner = ""] = /`{3,}(?:(\w*)\n)?([^`]*)`{3,}/.exec(text) ?? []
  return { info, text: inner }
}
