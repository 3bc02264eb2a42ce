/**
 * Shows untrusted text (of servers, skills, files): terminals do not obey it, nothing in it is hidden, and it is cut to
 * a limit.
 */
import * as TextCut from "./TextCut.js"

/** Escapes each UTF-16 unit of a character for a JSON string. */
const escapedUnits = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Returns a value as JSON on one line, without a final newline. Control and invisible characters are escaped, so that a
 * parser gets them back unchanged.
 */
export const jsonLine = (value: unknown): string =>
  // JSON has such characters only within strings.
  replaceInvisible(JSON.stringify(value), escapedUnits).replace(/[\x7f-\x9f]/g, escapedUnits)

/** The scripts whose letters ZWJ and ZWNJ shape. */
const shaped =
  "[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Mong}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Mymr}]"

/**
 * Matches invisible characters that are a part of visible text: of emoji, flags and some scripts. Must be tried first.
 */
const visible = [
  "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
  `(?<=${shaped})[\\u200c\\u200d](?=${shaped})`,
  "(?<=[^\\p{DI}\\p{Z}\\p{Cc}])[\\ufe00-\\ufe0f]",
  "(?<=\\u{1f3f4})[\\u{e0061}-\\u{e007a}]{3,5}\\u{e007f}",
  "(?<=\\p{sc=Han})[\\u{e0100}-\\u{e01ef}]"
].join("|")

/**
 * Replaces the invisible characters of a text. Joiners within emoji and between letters stay, and so do control
 * characters.
 */
export const replaceInvisible = (text: string, by: (character: string) => string): string => {
  // ASCII text has none.
  if (!/[^\0-\x7f]/.test(text) || !/[\p{DI}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]/u.test(text)) return text
  // Compiled only when needed: it takes a millisecond, and few texts have such characters.
  const invisible = new RegExp(`(${visible})|[\\p{DI}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\ufff9-\\ufffb]`, "gu")
  return text.replace(invisible, (character: string, isSeen: string | undefined) =>
    isSeen === undefined ? by(character) : character
  )
}

/** Matches an escape sequence of a terminal. */
const sequence = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g

/** Removes escape sequences from what a program wrote to a terminal. */
export const withoutSequences = (text: string): string => text.replace(sequence, "").replaceAll("\r\n", "\n")

/** The limits of a text that is shown. */
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

/** Escapes all characters that would begin a line, move a cursor, change the direction of text, or be invisible. */
export const escape = (text: string): string => replaceInvisible(text, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

/** Cuts a text between two characters and says how many are left out. */
const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  const kept = TextCut.startOf(text, most)
  return `${kept}… (${text.length - kept.length} more)`
}

/**
 * Shows a word on one line and keeps its white space.
 *
 * @param most the most characters shown
 */
export const word = (text: string, most = 80): string => escape(cut(text, most))

/** Shows at most `most` characters of a text on one line, with white space reduced to single spaces. */
export const line = (text: string, most: number): string => {
  // Looks at more than `most`: escaping lengthens the text, and dropping white space shortens it.
  const start = TextCut.startOf(text, 4 * most)
  const shown = escape(start.replace(/[\s\u0085]+/gu, " ").trim())
  const isWhole = shown.length <= most && text.length <= 4 * most
  return isWhole ? shown : `${TextCut.startOf(shown, most - 1).trimEnd()}…`
}

/** Shows a text as `line` does, in quotes. */
export const quoted = (text: string, most: number): string => `"${line(text, most - 2).replaceAll('"', "'")}"`

/** Shows the first sentence or line of a text as `line` does. */
export const sentence = (text: string, most: number): string => {
  const [start = ""] = linesOf(text.trimStart().slice(0, 4000))
  const [sentence = start] = /^.*?[.!?](?=\s)/u.exec(start) ?? []
  return line(sentence, most)
}

/** Matches empty lines at the beginning. */
const emptyStart = /^(?:[^\S\r\n]*[\r\n])+/u

/** Shows the first lines of a text behind a margin, so that none can pass for a line of Synapse. */
export const block = (text: string, margin: string, most: Most): ReadonlyArray<string> => {
  const lines = linesOf(cut(text.replace(emptyStart, "").trimEnd(), most.characters))
  const left = lines.length - most.lines
  const shown = lines.slice(0, most.lines).map(behind(margin))
  return left > 0 ? [...shown, `${margin}… (${left} more line${left === 1 ? "" : "s"})`] : shown
}

/** Shows the last lines of a text behind a margin. */
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
 * Escapes everything that a terminal would obey, and keeps lines and tabs. If no terminal shows the text, invisible
 * characters stay too.
 */
export const harmless = (text: string, isTerminal: boolean): string =>
  isTerminal
    ? text
        .replaceAll("\r\n", "\n")
        .split(/([\n\t])/)
        .map((part) => (part === "\n" || part === "\t" ? part : escape(part)))
        .join("")
    : text.replace(/(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/g, escaped)
