/**
 * Shows texts that somebody else wrote: servers, skills, files. No terminal obeys them, nothing is hidden in them, and
 * what is long is cut.
 */
import * as Invisible from "./Invisible.js"
import * as TextCut from "./TextCut.js"

/** The most of a text that is shown. */
export interface Most {
  readonly characters: number
  readonly lines: number
}

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** Escapes a character: `\u001b`, `\u{e0041}`, `\n`. */
export const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return short[character] ?? (code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`)
}

/**
 * Returns a text with all that would begin another line, move a cursor, change the direction, or not be seen, as it is
 * escaped.
 */
export const escape = (text: string): string => Invisible.replace(text, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

/** Cuts a text between two characters, and says how much is left out. */
const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  const kept = TextCut.startOf(text, most)
  return `${kept}… (${text.length - kept.length} more)`
}

/**
 * Shows a word as it is, on one line: its white space stays.
 *
 * @param most the most characters of it
 */
export const word = (text: string, most = 80): string => escape(cut(text, most))

/** Shows at most so many characters of a text, on one line; its white space becomes single spaces. */
export const line = (text: string, most: number): string => {
  // An escape is longer than what it stands for, and much white space goes.
  const start = TextCut.startOf(text, 4 * most)
  const shown = escape(start.replace(/[\s\u0085]+/gu, " ").trim())
  const isWhole = shown.length <= most && text.length <= 4 * most
  return isWhole ? shown : `${TextCut.startOf(shown, most - 1).trimEnd()}…`
}

/** Quotes a text as `line` shows it, so that it reads as somebody else's. */
export const quoted = (text: string, most: number): string => `"${line(text, most - 2).replaceAll('"', "'")}"`

/** Shows the first sentence or line of a text as `line` does. */
export const sentence = (text: string, most: number): string => {
  const [start = ""] = linesOf(text.trimStart().slice(0, 4000))
  const [sentence = start] = /^.*?[.!?](?=\s)/u.exec(start) ?? []
  return line(sentence, most)
}

/** Empty lines before the first one that is not. */
const emptyStart = /^(?:[^\S\r\n]*[\r\n])+/u

/** Shows the first lines of a text, each behind a margin, so that none of them can be taken for a line of ours. */
export const block = (text: string, margin: string, most: Most): ReadonlyArray<string> => {
  const lines = linesOf(cut(text.replace(emptyStart, "").trimEnd(), most.characters))
  const left = lines.length - most.lines
  const shown = lines.slice(0, most.lines).map(behind(margin))
  return left > 0 ? [...shown, `${margin}… (${left} more line${left === 1 ? "" : "s"})`] : shown
}

/** Shows the last lines of a text, each behind a margin; none where it is empty. */
export const tail = (text: string, margin: string, most: Most): ReadonlyArray<string> => {
  const end = text.trim()
  if (end === "") return []
  const lines = linesOf(TextCut.tailOf(end, most.characters))
  return lines.slice(-most.lines).map(behind(margin))
}

const linesOf = (text: string): ReadonlyArray<string> => text.split(/\r\n|\n|\r/)

const behind =
  (margin: string) =>
  (line: string): string =>
    `${margin}${escape(line.replaceAll("\t", "  "))}`.trimEnd()
