/**
 * Reports the parts of a file that come nearest to a text that it does not hold: parts that differ only in white space
 * or case, the longest beginning of the text, or the most similar lines. It takes time proportional to the file.
 *
 * @since 0.1.0
 */

import * as ShellText from "../../bash/ShellText.js"
import * as Newlines from "../../files/Newlines.js"
import * as Loose from "./Edit.loose.js"
import * as Similar from "./Edit.similar.js"

/** The most places that are shown. */
const places = 3
/** The most lines that are shown of a place. */
const shownLines = 6
/** The most bytes that are shown of a line. */
const shownBytes = 200

/**
 * Writes the report in a few lines, the last without a newline.
 *
 * @since 0.1.0
 */
export const report = (bytes: Uint8Array, old: string): string => {
  if (bytes.length === 0) return "The file is empty."
  const text = ShellText.encode(old)
  const found = Loose.find(bytes, text, places)
  if (found.matches.length > 0) return found.matches.map((match) => matching(bytes, match, text)).join("\n")
  return misread(bytes, old) ?? beginningLike(bytes, text, found) ?? linesLike(bytes, old)
}

const matching = (bytes: Uint8Array, match: Loose.Region, text: Uint8Array): string => {
  const differences = Loose.differences(bytes, match, text)
  const what = differences.length === 0 ? "white space" : differences.join("; ")
  return `${linesOf(bytes, match)} but for: ${what}\n${numbered(bytes, match)}`
}

/** Writes `Line 3 matches`, `Lines 3-5 match`. */
const linesOf = (bytes: Uint8Array, { end, start }: Loose.Region): string => {
  const [first, breaks] = [lineOf(bytes, start), Newlines.count(bytes.subarray(start, end))]
  return breaks === 0 ? `Line ${first} matches` : `Lines ${first}-${first + breaks} match`
}

/** Recognises a text that holds escapes which bash does not decode, or the line numbers of `read`. */
const misread = (bytes: Uint8Array, old: string): string | undefined => {
  const numbers = /^ *\d+\t/gm
  if (old.split("\n").every((line) => line === "" || line.search(numbers) === 0)) {
    const place = placeOf(bytes, old.replace(numbers, ""))
    if (place !== undefined) return `<old> has the line numbers that read shows; without them, ${place}`
  }
  if (/\\[ntr"'\\]/.test(old)) {
    const place = placeOf(
      bytes,
      old.replace(/\\([ntr"'\\])/g, (_, letter) => escapes[letter] as string)
    )
    if (place !== undefined) {
      return `<old> has backslashes, which bash passes on within quotes; as escapes ($'a\\nb'), ${place}`
    }
  }
  return undefined
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", '"': '"', "'": "'", "\\": "\\" }

const placeOf = (bytes: Uint8Array, text: string): string | undefined => {
  const [match] = Loose.find(bytes, ShellText.encode(text), 1).matches
  return match === undefined ? undefined : `it is at line ${lineOf(bytes, match.start)}:\n${numbered(bytes, match)}`
}

/** Reports where the file differs from the text, if at least a line or half of the text matches up to there. */
const beginningLike = (bytes: Uint8Array, text: Uint8Array, { beginning, length }: Loose.Found): string | undefined => {
  if (beginning === undefined || length < 8) return undefined
  let own = 0
  for (let left = length; left > 0; own++) if (Loose.folded[text[own] as number] !== 0) left--
  while (Loose.folded[text[own] as number] === 0) own++
  const rest = text.subarray(own)
  const isLong = Newlines.count(text.subarray(0, own)) > 0 || own * 2 >= text.length
  if (!isLong) return undefined
  let at = beginning.end
  while (at < bytes.length && Loose.folded[bytes[at] as number] === 0) at++
  const until = `from line ${lineOf(bytes, beginning.start)} on <old> matches (white space and case aside), until`
  if (at === bytes.length) return `${capital(until)} the file ends; <old> goes on: ${excerpt(rest, 0)}`
  const there = numbered(bytes, { start: at, end: at })
  return `${capital(until)} line ${lineOf(bytes, at)}:\n${there}\nwhere <old> has:\n${" ".repeat(6)}\t${excerpt(text, own)}`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const linesLike = (bytes: Uint8Array, old: string): string => {
  const line = old
    .split("\n")
    .reduce((longest, line) => (line.trim().length > longest.length ? line.trim() : longest), "")
  const similar = Similar.find(bytes, ShellText.encode(line), places)
  if (similar.length === 0) return "No line of the file is like it."
  return ["The nearest lines:", ...similar.map(({ start }) => numbered(bytes, { start, end: start }))].join("\n")
}

const lineOf = (bytes: Uint8Array, at: number): number => Newlines.count(bytes.subarray(0, at)) + 1

/** Returns the lines of a region, numbered. */
const numbered = (bytes: Uint8Array, { end, start }: Loose.Region): string => {
  const lines: Array<string> = []
  let number = lineOf(bytes, start)
  for (let at = start; ; number++) {
    if (lines.length === shownLines) return [...lines, `${" ".repeat(6)}\t...`].join("\n")
    lines.push(`${String(number).padStart(6)}\t${excerpt(bytes, at)}`)
    const next = bytes.indexOf(0x0a, at)
    if (next < 0 || next >= end) return lines.join("\n")
    at = next + 1
  }
}

/** Returns the line around an index, or a part of a long one. */
const excerpt = (bytes: Uint8Array, at: number): string => {
  const before = bytes.subarray(Math.max(0, at - shownBytes), at)
  const lineStart = before.lastIndexOf(0x0a) + 1
  const isWhole = lineStart > 0 || at <= shownBytes
  const start = at - before.length + (isWhole ? lineStart : before.length >> 1)
  const part = bytes.subarray(start, Math.max(at, start) + shownBytes)
  const lineEnd = part.indexOf(0x0a, at - start)
  const cut = lineEnd < 0 && start + part.length < bytes.length
  const text = new TextDecoder().decode(lineEnd < 0 ? part : part.subarray(0, lineEnd))
  return `${isWhole ? "" : "..."}${text.replace(/\r$/, "")}${cut ? "..." : ""}`
}
