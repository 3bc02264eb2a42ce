/**
 * Finds the prompt before commands that were copied from a terminal or from a manual: `$ `, and `(venv) $ `,
 * `bash-5.2$ ` or `user@host:~/src$ `, which no command begins with.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import * as LineStart from "../bash/LineStart.js"

const prompt = /^[ \t]*\$[ \t]+/
const anyPrompt = /^[ \t]*\$[ \t]/m

const environment = String.raw`\([\w.-]{1,50}\) ?`
const place = String.raw`(?:[\w.-]{1,50}@[\w.-]{1,50}:[^\s$#'"();&|<>]{0,200}|bash-\d[\d.]{0,10})[$#]`
const longer = String.raw`^[ \t]*(?:(?:${environment})?${place}|${environment}\$)(?=[ \t])`
const anyLonger = new RegExp(longer, "gm")
const firstPrompt = new RegExp(String.raw`(?:${longer}|^\$)(?=[ \t]+\S)`)

/**
 * Returns the prompt that a text begins with, as it is written; undefined where it begins with none. Bash has no command
 * `$`.
 *
 * @since 0.1.0
 */
export const of = (text: string): string | undefined => {
  const start = text.search(/\S/)
  const found = firstPrompt.exec(text.slice(Math.max(0, start), Math.max(0, start) + 500))
  return found?.[0]
}

/** Replaces longer prompts by `$`, where the text begins with one. */
const shortened = (text: string): string => ((of(text) ?? "$") === "$" ? text : text.replace(anyLonger, "$"))

/**
 * Returns the commands of a text without their prompts; undefined where a line has none, for it may be output. The text
 * of here-documents stays as it is.
 *
 * @since 0.1.0
 * @category parsing
 */
export const strip = (text: string): string | undefined => {
  const first = of(text)
  // The text of a here-document may show a terminal: there, a longer prompt is not told from what is meant.
  if (first === undefined || (first !== "$" && text.includes("<<"))) return undefined
  const given = unixLines(shortened(text))
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
  const lines = unixLines(shortened(text)).trim().split("\n")
  const goesOn = /(?:[\\|&({'"]|\b(?:do|then|else))\s*$|<</.test(lines[0] as string)
  const kept = goesOn ? lines : lines.filter((line) => prompt.test(line))
  return kept.map((line) => line.replace(prompt, "")).join("\n")
}

/**
 * Returns the number of lines that begin with a prompt.
 *
 * @since 0.1.0
 */
export const countOf = (text: string): number =>
  shortened(text)
    .split("\n")
    .filter((line) => prompt.test(line)).length

/** Replaces CRLF by LF where the first line ends with it. */
const unixLines = (text: string): string => (/^\s*[^\n]*\r\n/.test(text) ? text.replaceAll("\r\n", "\n") : text)
