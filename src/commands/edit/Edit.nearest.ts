/**
 * Reports the parts of a file that come nearest to a text that it does not hold: parts that differ only in white space
 * or case, the longest beginning of the text, or the most similar lines. It takes time proportional to the file, in slices.
 *
 * @since 0.1.0
 */

import * as ShellText from "../../bash/ShellText.js"
import * as Slices from "../../domain/Slices.js"
import * as Newlines from "../../files/Newlines.js"
import * as Loose from "./Edit.loose.js"
import { encode, stride } from "./Edit.matches.js"
import * as Similar from "./Edit.similar.js"

/**
 * The report where nothing comes near.
 *
 * @since 0.1.0
 */
export const none = "No line of the file is like it."

/** The most places that are shown. */
const places = 3
/** The most lines that are shown of a place. */
const shownLines = 6
/** The most bytes that are shown of a line. */
const shownBytes = 200
/** The number of bytes in which newlines are counted at once. */
const counted = 4 * 1024 ** 2

/** The most characters of a text that are examined for what a model gets wrong, and for its longest line. */
const mostExamined = 100_000

/**
 * Writes the report in a few lines, the last without a newline, at once.
 *
 * @since 0.1.0
 */
export const report = (bytes: Uint8Array, old: string): string => Slices.now(steps(bytes, old))

/**
 * Does the work of `report`, with rests.
 *
 * @since 0.1.0
 */
export function* steps(bytes: Uint8Array, old: string): Slices.Steps<string> {
  if (bytes.length === 0) return "The file is empty."
  const text = yield* encode(old)
  const found = yield* Loose.steps(bytes, text, places)
  if (found.matches.length > 0) {
    const shown: Array<string> = []
    for (const match of found.matches) shown.push(yield* matching(bytes, match, text))
    // Matches within one line look the same.
    return [...new Set(shown)].join("\n")
  }
  return (yield* misread(bytes, old)) ?? (yield* beginningLike(bytes, text, found)) ?? (yield* linesLike(bytes, old))
}

function* matching(bytes: Uint8Array, match: Loose.Region, text: Uint8Array): Slices.Steps<string> {
  const differences = yield* Loose.differences(bytes, match, text)
  const what = differences.length === 0 ? "white space" : differences.join("; ")
  return `${yield* linesOf(bytes, match)} but for: ${what}\n${yield* numbered(bytes, match)}`
}

/** Writes `Line 3 matches`, `Lines 3-5 match`. */
function* linesOf(bytes: Uint8Array, { end, start }: Loose.Region): Slices.Steps<string> {
  const first = yield* lineOf(bytes, start)
  const last = yield* lineOf(bytes, end)
  return first === last ? `Line ${first} matches` : `Lines ${first}-${last} match`
}

/** Recognises a text that holds escapes which bash does not decode, or the line numbers of `read`. */
function* misread(bytes: Uint8Array, old: string): Slices.Steps<string | undefined> {
  if (old.length > mostExamined) return undefined
  const numbers = /^ *\d+\t/gm
  if (old.split("\n").every((line) => line === "" || line.search(numbers) === 0)) {
    const place = yield* placeOf(bytes, old.replace(numbers, ""))
    if (place !== undefined) return `<old> has the line numbers that read shows; without them, ${place}`
  }
  if (/\\[ntr"'\\]/.test(old)) {
    const place = yield* placeOf(
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

function* placeOf(bytes: Uint8Array, text: string): Slices.Steps<string | undefined> {
  const [match] = (yield* Loose.steps(bytes, ShellText.encode(text), 1)).matches
  if (match === undefined) return undefined
  return `it is at line ${yield* lineOf(bytes, match.start)}:\n${yield* numbered(bytes, match)}`
}

/** Reports where the file differs from the text, if at least a line or half of the text matches up to there. */
function* beginningLike(
  bytes: Uint8Array,
  text: Uint8Array,
  { beginning, length }: Loose.Found
): Slices.Steps<string | undefined> {
  if (beginning === undefined || length < 3) return undefined
  let own = 0
  for (let left = length; left > 0; own++) {
    if (Loose.folded[text[own] as number] !== 0) left--
    if (own % stride === stride - 1) yield
  }
  const matched = own
  own = yield* Loose.gapEnd(text, own)
  const isWithinLine = Newlines.count(text.subarray(matched, own)) === 0
  const rest = text.subarray(own)
  // All but the end of a line.
  const isEnd = isWithinLine && beginning.end < bytes.length && Loose.isLineEnd(bytes, beginning.end)
  if (length < 8 && !isEnd) return undefined
  const isLong = Newlines.count(text.subarray(0, own)) > 0 || own * 2 >= text.length
  if (!isLong) return undefined
  const first = yield* lineOf(bytes, beginning.start)
  if (isEnd) {
    const last = yield* lineOf(bytes, beginning.end)
    const from = first === last ? "L" : `From line ${first} on <old> matches (white space and case aside), until l`
    const shown = yield* numbered(bytes, { start: beginning.end, end: beginning.end })
    return `${from}ine ${last} ends where <old> goes on: ${excerpt(rest, 0)}\n${shown}`
  }
  const at = yield* Loose.gapEnd(bytes, beginning.end)
  const until = `from line ${first} on <old> matches (white space and case aside), until`
  if (at === bytes.length) return `${capital(until)} the file ends; <old> goes on: ${excerpt(rest, 0)}`
  const there = yield* numbered(bytes, { start: at, end: at })
  const line = yield* lineOf(bytes, at)
  return `${capital(until)} line ${line}:\n${there}\nwhere <old> has:\n${" ".repeat(6)}\t${excerpt(text, own)}`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function* linesLike(bytes: Uint8Array, old: string): Slices.Steps<string> {
  const line = old
    .slice(0, mostExamined)
    .split("\n")
    .reduce((longest, line) => (line.trim().length > longest.length ? line.trim() : longest), "")
  const similar = yield* Similar.find(bytes, ShellText.encode(line), places)
  if (similar.length === 0) return none
  const shown: Array<string> = []
  for (const { start } of similar) shown.push(yield* numbered(bytes, { start, end: start }))
  return ["The nearest lines:", ...shown].join("\n")
}

/** Returns the number of the line that an index lies in. */
function* lineOf(bytes: Uint8Array, at: number): Slices.Steps<number> {
  let line = 1
  for (let from = 0; from < at; from += counted) {
    if (from > 0) yield
    line += Newlines.count(bytes.subarray(from, Math.min(at, from + counted)))
  }
  return line
}

/** Returns the lines of a region, numbered. */
function* numbered(bytes: Uint8Array, { end, start }: Loose.Region): Slices.Steps<string> {
  const lines: Array<string> = []
  let number = yield* lineOf(bytes, start)
  for (let at = start; ; number++) {
    if (lines.length === shownLines) return [...lines, `${" ".repeat(6)}\t...`].join("\n")
    lines.push(`${String(number).padStart(6)}\t${excerpt(bytes, at)}`)
    const next = bytes.indexOf(0x0a, at)
    if (next < 0 || next >= end) return lines.join("\n")
    if (next - at > stride) yield
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
