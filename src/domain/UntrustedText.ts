/**
 * Shows texts that somebody else wrote: servers, skills, files. No terminal obeys them, nothing is hidden in them, and
 * what is long is cut.
 */
import * as TextCut from "./TextCut.js"

/** Writes each unit of a character as JSON may have it in a string. */
const escapedUnits = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Returns a value as JSON on one line, without a newline at its end. Control characters and characters that nobody sees
 * are escaped in it; whoever parses it gets them back as they were.
 */
export const jsonLine = (value: unknown): string =>
  // Outside of strings, JSON has none of these characters.
  replaceInvisible(JSON.stringify(value), escapedUnits).replace(/[\x7f-\x9f]/g, escapedUnits)

/** The scripts in which ZWJ and ZWNJ shape letters. */
const shaped =
  "[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Mong}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Mymr}]"

/** Matches invisible characters that are a part of visible text; tried before the others: parts of emoji, of flags, and of some scripts. */
const seen = [
  "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
  `(?<=${shaped})[\\u200c\\u200d](?=${shaped})`,
  "(?<=[^\\p{DI}\\p{Z}\\p{Cc}])[\\ufe00-\\ufe0f]",
  "(?<=\\u{1f3f4})[\\u{e0061}-\\u{e007a}]{3,5}\\u{e007f}",
  "(?<=\\p{sc=Han})[\\u{e0100}-\\u{e01ef}]"
].join("|")

/**
 * Replaces the invisible characters of a text; returns the text itself where it has none. A joiner in an emoji is none,
 * nor one between letters that it joins. Control characters stay.
 */
export const replaceInvisible = (text: string, by: (character: string) => string): string => {
  // A text of ASCII has none.
  if (!/[^\0-\x7f]/.test(text) || !/[\p{DI}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]/u.test(text)) return text
  // To compile it takes a millisecond, and few texts have such characters.
  const invisible = new RegExp(`(${seen})|[\\p{DI}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\ufff9-\\ufffb]`, "gu")
  return text.replace(invisible, (character: string, isSeen: string | undefined) =>
    isSeen === undefined ? by(character) : character
  )
}

/** Matches a sequence that a terminal obeys and does not show. */
const sequence = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g

/** Returns what a program has written to a terminal without what moves the cursor, colours, or sets up the terminal. */
export const withoutSequences = (text: string): string => text.replace(sequence, "").replaceAll("\r\n", "\n")

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
export const escape = (text: string): string => replaceInvisible(text, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

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

/**
 * Returns a text with its lines and tabs as they are, and without anything that a terminal would obey. Where no terminal
 * shows it, characters that nobody sees stay.
 */
export const harmless = (text: string, isTerminal: boolean): string =>
  isTerminal
    ? text
        .replaceAll("\r\n", "\n")
        .split(/([\n\t])/)
        .map((part) => (part === "\n" || part === "\t" ? part : escape(part)))
        .join("")
    : text.replace(/(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/g, escaped)
