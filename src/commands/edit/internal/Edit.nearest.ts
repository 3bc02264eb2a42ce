/**
 * Reports the parts of a file that come nearest to a text that it does not hold: parts that differ only in white space
 * or case, the longest beginning of the text, or the most similar lines. It takes time proportional to the file, in slices.
 */

import * as ShellText from "../../../bash/ShellText.js"
import type { Steps } from "../../../domain/Slices.js"
import * as Slices from "../../../domain/Slices.js"
import * as Newlines from "../../../files/Newlines.js"
import { encode, prefixTable, stride } from "./Edit.matches.js"

/** The byte that each byte is compared as: a letter in lower case, and 0 for white space, which is skipped. */
const folded: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? 0 : byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
)

/** A part of a file: the index of its first byte, and the index behind its last. */
interface Region {
  readonly start: number
  readonly end: number
}

/** The result of a search. */
interface Found {
  /** The first matches, each from its first to its last byte that is not white space. */
  readonly matches: ReadonlyArray<Region>
  /**
   * The longest beginning of the text that occurs in the file; undefined where there are matches, or nothing occurs.
   */
  readonly beginning: Region | undefined
  /** The number of bytes, without white space, in that beginning. */
  readonly length: number
}

/**
 * Finds a text while ignoring white space and case, in time proportional to the file, at once.
 *
 * @param most the number of matches after which the search ends
 */
export const findEditLoose = (bytes: Uint8Array, text: Uint8Array, most: number): Found =>
  Slices.now(stepsEditLoose(bytes, text, most))

/** Does the work of `find`, with rests. */
function* stepsEditLoose(bytes: Uint8Array, text: Uint8Array, most: number): Slices.Steps<Found> {
  const key = yield* keyOf(text)
  if (key.length === 0) return { matches: [], beginning: undefined, length: 0 }
  const table = yield* prefixTable(key)
  const matches: Array<Region> = []
  const fold = folded
  let longest = 0
  let longestEnd = 0
  let length = 0
  for (let from = 0; from < bytes.length && matches.length < most; from += stride) {
    const end = Math.min(from + stride, bytes.length)
    for (let at = from; at < end && matches.length < most; at++) {
      const byte = fold[bytes[at] as number]
      if (byte === 0) continue
      while (length > 0 && key[length] !== byte) length = table[length - 1] as number
      if (key[length] !== byte) continue
      length++
      // Of two beginnings of one length, that which ends its line is nearer: only the end of the line differs.
      if (length > longest || (length === longest && isLineEnd(bytes, at + 1) && !isLineEnd(bytes, longestEnd))) {
        longest = length
        longestEnd = at + 1
      }
      if (length === key.length) {
        matches.push({ start: yield* startOf(bytes, at + 1, length), end: at + 1 })
        length = 0
      }
    }
    if (end < bytes.length) yield
  }
  if (matches.length > 0 || longest === 0) return { matches, beginning: undefined, length: longest }
  return {
    matches,
    beginning: { start: yield* startOf(bytes, longestEnd, longest), end: longestEnd },
    length: longest
  }
}

/** Tests whether a line ends at an index. */
const isLineEnd = (bytes: Uint8Array, at: number): boolean =>
  at >= bytes.length || bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] === 0x0a)

/** Returns the bytes that are compared. */
function* keyOf(text: Uint8Array): Slices.Steps<Uint8Array> {
  const key = new Uint8Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const byte = folded[text[at] as number] as number
    if (byte !== 0) key[length++] = byte
    if (at % stride === stride - 1) yield
  }
  return key.subarray(0, length)
}

function* startOf(bytes: Uint8Array, end: number, length: number): Slices.Steps<number> {
  let at = end
  for (let left = length; left > 0; ) {
    if (folded[bytes[--at] as number] !== 0) left--
    if ((end - at) % stride === 0) yield
  }
  return at
}

/** The most bytes of white space that are compared between two other bytes. */
const mostWhiteSpace = 10_000

const within = "blanks within a line"

/** Names the differences between a text and its match in a file. */
function* differencesEditLoose(
  bytes: Uint8Array,
  { end, start }: Region,
  text: Uint8Array
): Slices.Steps<ReadonlyArray<string>> {
  const said = new Set<string>()
  const textStart = yield* gapEnd(text, 0)
  compareGaps(
    said,
    leading(bytes, start, text, textStart),
    latin1(text, 0, textStart),
    isLineStart(bytes, start) ? "indentation" : within
  )
  let at = start
  let own = textStart
  let sinceRest = 0
  while (at < end) {
    if (bytes[at] !== text[own]) said.add("the case of letters")
    const gap = isGap(bytes, at + 1) ? yield* gapEnd(bytes, at + 1) : at + 1
    const ownGap = isGap(text, own + 1) ? yield* gapEnd(text, own + 1) : own + 1
    if (at + 1 === end) {
      const trailing = latin1(text, own + 1, text.length)
      compareGaps(said, trailingLike(latin1(bytes, end, gap), trailing), trailing, "blanks at the end of <old>")
      break
    }
    compareGaps(said, latin1(bytes, at + 1, gap), latin1(text, own + 1, ownGap), within)
    // White space takes far longer than other bytes.
    sinceRest += 1 + Math.min(gap - at + ownGap - own - 2, mostWhiteSpace)
    if (sinceRest > mostWhiteSpace) {
      sinceRest = 0
      yield
    }
    at = gap
    own = ownGap
  }
  return [...said]
}

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  start === end ? "" : Buffer.from(bytes.subarray(start, Math.min(end, start + mostWhiteSpace))).toString("latin1")

const isGap = (bytes: Uint8Array, at: number): boolean => at < bytes.length && folded[bytes[at] as number] === 0

/** Returns the index behind the white space that begins at `start`. */
function* gapEnd(bytes: Uint8Array, start: number): Slices.Steps<number> {
  let at = start
  for (; isGap(bytes, at); at++) if ((at - start) % stride === stride - 1) yield
  return at
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

/**
 * Returns the white space before a match on its line, with the line breaks that the text begins with; empty where the
 * text begins with none.
 */
const leading = (bytes: Uint8Array, start: number, text: Uint8Array, textStart: number): string => {
  if (textStart === 0) return ""
  let at = start
  while (start - at < mostWhiteSpace && isBlank(bytes[at - 1])) at--
  const own = latin1(text, 0, textStart)
  return own.slice(0, own.lastIndexOf("\n") + 1) + latin1(bytes, at, start)
}

const isLineStart = (bytes: Uint8Array, start: number): boolean => {
  let at = start
  while (start - at < mostWhiteSpace && isBlank(bytes[at - 1])) at--
  return at === 0 || bytes[at - 1] === 0x0a
}

/** Returns as much of the white space behind a match as the text ends in. */
const trailingLike = (gap: string, own: string): string => {
  const count = own.split("\n").length
  const lines = gap.split("\n").slice(0, count)
  const last = lines[count - 1]?.slice(0, own.length - own.lastIndexOf("\n") - 1)
  return last === undefined ? gap : [...lines.slice(0, -1), last].join("\n")
}

const compareGaps = (said: Set<string>, there: string, own: string, onOneLine: string): void => {
  if (there === own) return
  if (there.includes("\r\n") !== own.includes("\r\n") && there.includes("\n") && own.includes("\n")) {
    said.add(
      there.includes("\r\n") ? "line ends (CRLF in the file, LF in <old>)" : "line ends (LF in the file, CRLF in <old>)"
    )
  }
  const [lines, ownLines] = [linesIn(there), linesIn(own)]
  if (lines.length !== ownLines.length) {
    said.add(lines.length > 1 && ownLines.length > 1 ? "the number of empty lines" : "line breaks")
    return
  }
  lines.forEach((blanks, index) => {
    const ownBlanks = ownLines[index] as string
    if (blanks === ownBlanks) return
    if (index < lines.length - 1) said.add(`blanks at the end of a line${whose(blanks, ownBlanks)}`)
    else said.add(`${index > 0 ? "indentation" : onOneLine}${kinds(blanks, ownBlanks)}`)
  })
}

const linesIn = (gap: string): ReadonlyArray<string> => gap.replaceAll("\r\n", "\n").split("\n")

const whose = (blanks: string, own: string): string =>
  own === "" ? " (in the file)" : blanks === "" ? " (in <old>)" : ""

const kinds = (blanks: string, own: string): string => {
  const [kind, ownKind] = [blanks, own].map(kindOf)
  return kind === ownKind || kind === undefined || ownKind === undefined
    ? ""
    : ` (${kind} in the file, ${ownKind} in <old>)`
}

const kindOf = (blanks: string): string | undefined =>
  blanks === "" ? undefined : /^ +$/.test(blanks) ? "spaces" : /^\t+$/.test(blanks) ? "tabs" : "tabs and spaces"

/** The number of lines that the first pass keeps for the second. */
const kept = 16
/** The number of bytes of a line that the second pass compares. */
const compared = 300
/** The least similarity that counts, between 0 (nothing in common) and 1 (the same except for white space and case). */
const least = 0.6
/** The most by which a line may be less similar than the best one. */
const margin = 0.2

interface Scored extends Region {
  readonly score: number
}

/** Finds the lines that are most similar to a line, the most similar first, in time proportional to the file. */
function* find(bytes: Uint8Array, line: Uint8Array, most: number): Steps<ReadonlyArray<Region>> {
  const key = fold(line)
  return (yield* candidates(bytes, key))
    .map(({ end, start }) => ({ start, end, score: similarity(fold(bytes.subarray(start, end)), key) }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.start - b.start)
    .filter(({ score }, _, [best]) => score >= (best?.score ?? 0) - margin)
    .slice(0, most)
}

const fold = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes.subarray(0, 2 * compared), (byte) => folded[byte] as number)
    .filter((byte) => byte !== 0)
    .subarray(0, compared)

/** Returns a hash of the last three bytes. */
const next = (hash: number, byte: number): number => ((hash << 5) ^ byte) & 0x7fff

function* candidates(bytes: Uint8Array, key: Uint8Array): Steps<ReadonlyArray<Scored>> {
  const trigrams = new Uint8Array(0x8000)
  let wanted = 0
  for (let at = 0, hash = 0; at < key.length; at++) {
    hash = next(hash, key[at] as number)
    if (at < 2 || trigrams[hash] === 1) continue
    trigrams[hash] = 1
    wanted++
  }
  const best: Array<Scored> = []
  if (wanted === 0) return best
  let worst = 0.3
  const end = (start: number, end: number, length: number, shared: number) => {
    const score = (2 * Math.min(shared, wanted)) / (wanted + Math.max(length - 2, 1))
    if (score <= worst) return
    const rank = best.findIndex((other) => other.score < score)
    best.splice(rank < 0 ? best.length : rank, 0, { start, end, score })
    if (best.length > kept) best.pop()
    if (best.length === kept) worst = (best[kept - 1] as Scored).score
  }
  const table = folded
  let start = 0
  let length = 0
  let shared = 0
  let hash = 0
  for (let from = 0; from < bytes.length; from += stride) {
    const until = Math.min(from + stride, bytes.length)
    for (let at = from; at < until; at++) {
      const byte = table[bytes[at] as number] as number
      if (byte !== 0) {
        hash = next(hash, byte)
        if (++length > 2) shared += trigrams[hash] as number
      } else if (bytes[at] === 0x0a) {
        if (shared > 0) end(start, at, length, shared)
        start = at + 1
        length = 0
        shared = 0
        hash = 0
      }
    }
    if (until < bytes.length) yield
  }
  if (shared > 0) end(start, bytes.length, length, shared)
  return best
}

/** Returns twice the length of the longest common subsequence, divided by the sum of both lengths. */
const similarity = (a: Uint8Array, b: Uint8Array): number => {
  let row = new Uint16Array(b.length + 1)
  for (const byte of a) {
    const above = row
    row = new Uint16Array(b.length + 1)
    for (let at = 0; at < b.length; at++) {
      row[at + 1] = b[at] === byte ? (above[at] as number) + 1 : Math.max(row[at] as number, above[at + 1] as number)
    }
  }
  return (2 * (row[b.length] as number)) / (a.length + b.length)
}

/** The report where nothing comes near. */
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

/** Writes the report in a few lines, the last without a newline, at once. */
export const report = (bytes: Uint8Array, old: string): string => Slices.now(steps(bytes, old))

/** Does the work of `report`, with rests. */
export function* steps(bytes: Uint8Array, old: string): Slices.Steps<string> {
  if (bytes.length === 0) return "The file is empty."
  const text = yield* encode(old)
  const found = yield* stepsEditLoose(bytes, text, places)
  if (found.matches.length > 0) {
    const shown: Array<string> = []
    for (const match of found.matches) shown.push(yield* matching(bytes, match, text))
    // Matches within one line look the same.
    return [...new Set(shown)].join("\n")
  }
  return (yield* misread(bytes, old)) ?? (yield* beginningLike(bytes, text, found)) ?? (yield* linesLike(bytes, old))
}

function* matching(bytes: Uint8Array, match: Region, text: Uint8Array): Slices.Steps<string> {
  const differences = yield* differencesEditLoose(bytes, match, text)
  const what = differences.length === 0 ? "white space" : differences.join("; ")
  return `${yield* linesOf(bytes, match)} but for: ${what}\n${yield* numbered(bytes, match)}`
}

/** Writes `Line 3 matches`, `Lines 3-5 match`. */
function* linesOf(bytes: Uint8Array, { end, start }: Region): Slices.Steps<string> {
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
  const [match] = (yield* stepsEditLoose(bytes, ShellText.encode(text), 1)).matches
  if (match === undefined) return undefined
  return `it is at line ${yield* lineOf(bytes, match.start)}:\n${yield* numbered(bytes, match)}`
}

/** Reports where the file differs from the text, if at least a line or half of the text matches up to there. */
function* beginningLike(
  bytes: Uint8Array,
  text: Uint8Array,
  { beginning, length }: Found
): Slices.Steps<string | undefined> {
  if (beginning === undefined || length < 3) return undefined
  let own = 0
  for (let left = length; left > 0; own++) {
    if (folded[text[own] as number] !== 0) left--
    if (own % stride === stride - 1) yield
  }
  const matched = own
  own = yield* gapEnd(text, own)
  const isWithinLine = Newlines.count(text.subarray(matched, own)) === 0
  const rest = text.subarray(own)
  // All but the end of a line.
  const isEnd = isWithinLine && beginning.end < bytes.length && isLineEnd(bytes, beginning.end)
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
  const at = yield* gapEnd(bytes, beginning.end)
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
  const similar = yield* find(bytes, ShellText.encode(line), places)
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
function* numbered(bytes: Uint8Array, { end, start }: Region): Slices.Steps<string> {
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
