/**
 * Finds the prompt `$ ` before commands that were copied from a terminal or from a manual.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as LineStart from "../bash/LineStart.js"

const prompt = /^[ \t]*\$[ \t]+/
const anyPrompt = /^[ \t]*\$[ \t]/m

/**
 * Tests whether a text begins with a prompt: bash has no command `$`.
 *
 * @since 0.1.0
 */
export const isPrompt = (text: string): boolean => /^\s*\$[ \t]+\S/.test(text)

/**
 * Returns the commands of a text without their prompts; undefined where a line has none, for it may be output. The text
 * of here-documents stays as it is.
 *
 * @since 0.1.0
 * @category parsing
 */
export const strip = (text: string): string | undefined => {
  if (!isPrompt(text)) return undefined
  const given = unixLines(text)
  const { tokens } = CommandLine.parse(given)
  const isOpen = tokens.some((token) => (token._tag === "Word" || token._tag === "HereDocument") && !token.closed)
  if (isOpen) return undefined
  let command = ""
  let from = 0
  for (const [at, token] of tokens.entries()) {
    if (token._tag === "Blank" || token._tag === "Newline" || token._tag === "Comment") continue
    if (token._tag === "HereDocument" || !LineStart.isFirst(tokens, at, given)) continue
    const next = tokens[at + 1]
    if (given.slice(token.start, token.end) !== "$" || next?._tag !== "Blank") return undefined
    command += given.slice(from, token.start)
    from = next.end
  }
  command += given.slice(from)
  // A prompt that is left stands in a here-document, or in quotes that an apostrophe of a line before has opened.
  return anyPrompt.test(LineStart.outsideHereDocuments(command)) ? undefined : command
}

/**
 * Returns the commands that a text with prompts and output probably has: the lines with a prompt; all of it, where the
 * first command goes on in the next line.
 *
 * @since 0.1.0
 */
export const commandsOf = (text: string): string => {
  const lines = unixLines(text).trim().split("\n")
  const goesOn = /(?:[\\|&({'"]|\b(?:do|then|else))\s*$|<</.test(lines[0] as string)
  const kept = goesOn ? lines : lines.filter((line) => prompt.test(line))
  return kept.map((line) => line.replace(prompt, "")).join("\n")
}

/** Replaces CRLF by LF where the first line ends with it. */
const unixLines = (text: string): string => (/^\s*[^\n]*\r\n/.test(text) ? text.replaceAll("\r\n", "\n") : text)
