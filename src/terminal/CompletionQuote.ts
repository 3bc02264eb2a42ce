/** Writes names as words for bash, in the quotes that a person has begun. */
import * as Invisible from "../domain/Invisible.js"
import type { WordAtPlace } from "./internal/WordAtPlace.js"

/** Matches what bash takes for more than a character outside of quotes. */
const special = /[^\p{L}\p{N}\p{M}_./:@%+,=^-]/gu
const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e" }

/**
 * Writes a name in a quote, as far as it goes on: the quote is left open where `isWhole` is false. A name with
 * characters that nobody sees is written in `$'…'`, whatever was begun.
 */
export const write = (name: string, quote: WordAtPlace["quote"], isWhole: boolean): string => {
  const end = isWhole ? quote.slice(-1) : ""
  const readable = hide(name)
  if (quote === "$'" || readable !== name) return `$'${hide(name.replace(/[\\']/g, "\\$&"))}${isWhole ? "'" : ""}`
  if (quote === "'") return `'${name.replaceAll("'", "'\\''")}${end}`
  if (quote === '"') return `"${name.replace(/[\\"$`]/g, "\\$&")}${end}`
  return name.replace(special, "\\$&")
}

const hide = (name: string): string => Invisible.replace(name, escaped).replace(/[\p{Cc}\p{Cs}]/gu, escaped)

const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: number, value = code) => value.toString(16).padStart(digits, "0")
  // A byte that is not UTF-8 is a surrogate here.
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(2, code - 0xdc00)}`
  return short[character] ?? (code < 128 ? `\\x${hex(2)}` : `\\U${hex(8)}`)
}
